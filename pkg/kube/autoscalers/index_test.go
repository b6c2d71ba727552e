package autoscalers_test

import (
	"log/slog"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/autoscalers"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

// TestReferencesAgainstAPlainIndex has autoscalers come, change and go at random.
func TestReferencesAgainstAPlainIndex(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "b", "c", "d"}
	c, plain := newClients(), map[string][]manifest.Reference{}
	watch := autoscalers.FromClients(c.typed, c.objects, hurry(), slog.New(slog.DiscardHandler))
	set := func(name string, triggers ...any) {
		t.Helper()
		object := scaled()
		object.SetName(name)
		must(t, unstructured.SetNestedSlice(object.Object, triggers, "spec", "triggers"))
		read, err := autoscaler.FromScaledObject(object)
		must(t, err)
		plain[name] = autoscaler.References(read)
		must(t, watch.ScaledObjects().Add(object))
	}
	for round := range 500 {
		var triggers []any
		for range random.IntN(3) {
			triggers = append(triggers, map[string]any{"type": "external", "metadata": map[string]any{
				"scalerAddress": "x:9", "forecast": names[random.IntN(2)], "target": strconv.Itoa(1 + random.IntN(3)),
			}})
		}
		set(names[random.IntN(len(names))], triggers...)
		for _, forecast := range names[:2] {
			key := snapshot.Key{Namespace: "default", Name: forecast}
			var want []manifest.Reference
			for _, name := range names {
				for _, r := range plain[name] {
					if r.Forecast == key {
						want = append(want, r)
					}
				}
			}
			if diff := cmp.Diff(want, watch.References(key), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("round %d, %s: %s", round, key, diff)
			}
		}
	}
	for _, name := range names {
		set(name)
	}
	if a, f := watch.Size(); a != 0 || f != 0 {
		t.Errorf("%d autoscalers and %d Forecasts are kept of none", a, f)
	}
}
