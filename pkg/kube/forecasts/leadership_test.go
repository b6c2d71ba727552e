package forecasts_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/kube/forecasts"
)

func TestALeaseNeedsItsNames(t *testing.T) {
	_, err := forecasts.NewLeadership(&rest.Config{}, forecasts.LeaseConfig{Duration: time.Millisecond}, quiet())
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"the namespace is missing", "the name is missing", "the identity is missing", "duration 1ms, expected at least 1s"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}
