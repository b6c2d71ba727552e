package aggregation //nolint:testpackage // A watch with a client that is made up.

import (
	"log/slog"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"

	"github.com/forewarm/forewarm/hack/apiservertest"
)

// Another replica may be ready until the APIServices are known; then it is where the kube-apiserver reaches one that leads here.
func TestReached(t *testing.T) {
	availability := func(status string) map[string]any {
		return map[string]any{"conditions": []any{map[string]any{"type": "Available", "status": status}}}
	}
	own, others := leading(
		"v1beta1",
		External,
		"forewarm",
		map[string]any{},
	), leading(
		"v1beta2",
		Custom,
		"prometheus-adapter",
		map[string]any{},
	)
	others.Object["status"] = availability("True")
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{apiServices: "APIServiceList"}, own, others)
	w := newGroups(client, "forewarm-system/forewarm", slog.New(slog.DiscardHandler))
	if !w.Reached() {
		t.Error("before the APIServices are known no other replica is ready")
	}
	apiservertest.Background(t, w.Run)
	for _, status := range []string{"", "True", "False"} {
		if status != "" {
			own.Object["status"] = availability(status)
			if _, err := client.Resource(apiServices).Update(t.Context(), own, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		apiservertest.Eventually(t, 10*time.Second, func() string {
			return apiservertest.Differs("reached where Available is "+status, w.Reached(), status == "True")
		})
	}
}
