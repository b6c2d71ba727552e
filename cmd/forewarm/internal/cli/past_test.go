package cli_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/kube/client"
)

// HPAs that ask for a Forecast's name are found, and those that ask for its alias where no older Forecast has it.
func TestPastFindsHPAs(t *testing.T) {
	server := httptest.NewServer(clusterOf("aliases"))
	defer server.Close()
	for name, want := range map[string]string{"older": "exposed:HorizontalPodAutoscaler/alias", "newer": "HorizontalPodAutoscaler/name"} {
		f, err := client.ReadWithCluster(t.Context(), &rest.Config{Host: server.URL}, "inference", name)
		if err != nil || f.State.UnreadReason != "" {
			t.Fatalf("%v, unread: %s", err, f.State.UnreadReason)
		}
		var got []string
		for i := range f.State.Autoscalers {
			got = append(got, f.State.Autoscalers[i].Autoscaler)
		}
		for i := range f.State.Exposed {
			got = append(got, "exposed:"+f.State.Exposed[i].Autoscaler)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: found %s, want %s", name, got, want)
		}
	}
}
