package autoscalers_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/autoscalers"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// TestIndexAgainstAPlainOne has autoscalers come, change and go at random.
func TestIndexAgainstAPlainOne(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "b", "c", "d"}
	index, plain := autoscalers.NewIndex(), map[string][]manifest.Reference{}
	for round := range 500 {
		name := names[random.IntN(len(names))]
		var references []manifest.Reference
		for i := range random.IntN(3) {
			references = append(references, manifest.Reference{
				Autoscaler: fmt.Sprintf("ScaledObject/%s %d %d", name, i, random.IntN(3)),
				Forecast:   snapshot.Key{Namespace: "default", Name: names[random.IntN(2)]},
			})
		}
		index.Set("ScaledObject", name, references)
		plain[name] = references
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
			if diff := cmp.Diff(want, index.Found(key), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("round %d, %s: %s", round, key, diff)
			}
		}
	}
	for _, name := range names {
		index.Set("ScaledObject", name, nil)
	}
	if a, f := index.Size(); a != 0 || f != 0 {
		t.Errorf("%d autoscalers and %d Forecasts are kept of none", a, f)
	}
}
