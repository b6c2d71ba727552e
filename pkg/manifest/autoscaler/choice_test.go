package autoscaler_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

// reference is one of an autoscaler that does as plain, but for its target (in units).
func reference(by string, target int64) autoscaler.Reference {
	return autoscaler.Reference{
		Forecast: inflight, Autoscaler: by, Workload: llama,
		Spec: changed(func(s *hpa.Spec) { s.Metrics[0].Target = target * 1000 }),
	}
}

func with(r autoscaler.Reference, change func(*autoscaler.Reference)) autoscaler.Reference {
	change(&r)
	return r
}

func TestChoose(t *testing.T) {
	const h, k = "HorizontalPodAutoscaler/", "ScaledObject/"
	other := llama
	other.Name = "mistral"
	older := llama
	older.APIVersion = "apps/v1beta2"
	for _, c := range []struct {
		name       string
		references []autoscaler.Reference
		own        int64
		// want are name=target; words are in Used, passed in Passed.
		want, words, passed []string
	}{
		{"none", nil, 64_000, nil, nil, nil},
		{
			"in the order of their names",
			[]autoscaler.Reference{reference(k+"a", 3), reference(h+"b", 2), reference(h+"a", 1)},
			0,
			[]string{h + "a=1", h + "b=2", k + "a=3"},
			[]string{h + "a: 1 a replica, 1 to 20 replicas"},
			nil,
		},
		{
			"those that scale alike are one",
			[]autoscaler.Reference{reference(h+"a", 1), reference(h+"b", 2), reference(h+"c", 1)},
			0,
			[]string{h + "a=1", h + "b=2"},
			[]string{h + "a: 1 a replica, 1 to 20 replicas, and " + h + "c"},
			nil,
		},
		{
			"of two metrics the smaller target rules",
			[]autoscaler.Reference{reference(h+"a", 7), reference(h+"a", 5)},
			0,
			[]string{h + "a=5"},
			nil, nil,
		},
		{
			"another workload",
			[]autoscaler.Reference{with(reference(h+"a", 1), func(r *autoscaler.Reference) { r.Workload = other })},
			0, nil, nil,
			[]string{h + "a is not used: it scales Deployment.apps/mistral, not Deployment.apps/llama"},
		},
		{
			"another version of the workload's API",
			[]autoscaler.Reference{with(reference(h+"a", 1), func(r *autoscaler.Reference) { r.Workload = older })},
			0,
			[]string{h + "a=1"},
			nil, nil,
		},
		{
			"the refused are told", []autoscaler.Reference{
				with(reference(h+"a", 1), func(r *autoscaler.Reference) { r.Refused, r.Spec = "no", hpa.Spec{} }), reference(h+"b", 2),
			}, 0, []string{h + "b=2"}, nil, []string{h + "a is not used: no"},
		},
		{
			"what contradicts itself",
			[]autoscaler.Reference{with(reference(h+"a", 1), func(r *autoscaler.Reference) { r.Spec.Max = 0 })},
			0,
			nil, nil,
			[]string{h + "a is not used: maxReplicas 0: want at least 1"},
		},
		{
			"five that differ",
			[]autoscaler.Reference{
				reference(h+"a", 1), reference(h+"b", 2), reference(h+"c", 3), reference(h+"d", 4), reference(h+"e", 5),
			},
			0,
			[]string{h + "a=1", h + "b=2", h + "c=3", h + "d=4"},
			nil,
			[]string{h + "e is not used: it scales differently from the first 4"},
		},
		{
			"one that may sleep keeps a replica here",
			[]autoscaler.Reference{
				with(reference(h+"a", 1), func(r *autoscaler.Reference) { r.Spec.Min, r.Spec.Cluster.ScaleToZero = 0, true }),
				reference(h+"b", 1),
			},
			0,
			[]string{h + "a=1"},
			[]string{h + "a: 1 a replica, 1 to 20 replicas, and " + h + "b"},
			nil,
		},
		{"the Forecast's own target", []autoscaler.Reference{reference(k+"a", 0)}, 64_000, []string{k + "a=64"}, nil, nil},
		{
			"what forewarm answers KEDA where an HPA says another target",
			[]autoscaler.Reference{reference(h+"a", 32), reference(k+"a", 0)},
			64_000,
			[]string{h + "a=32"},
			[]string{h + "a: 32 a replica, 1 to 20 replicas, and " + k + "a"},
			nil,
		},
		{
			"no target anywhere",
			[]autoscaler.Reference{reference(k+"a", 0)},
			0, nil, nil,
			[]string{k + "a is not used: nothing says what one replica sustains"},
		},
	} {
		got := autoscaler.Choose(c.references, llama, c.own)
		var scalings []string
		for _, s := range got.Scalings {
			text := autoscaler.Describe(decide.Autoscaler{Name: s.Name, HPA: s.HPA})
			name, rest, _ := strings.Cut(text, ": ")
			target, _, _ := strings.Cut(rest, " ")
			scalings = append(scalings, name+"="+target)
		}
		if diff := cmp.Diff(c.want, scalings); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		expectBeginnings(t, c.name, got.Used[:min(len(c.words), len(got.Used))], c.words)
		expectBeginnings(t, c.name, got.Skipped, c.passed)
		if len(got.Used) != len(got.Scalings) {
			t.Errorf("%s: %d scalings in words for %d", c.name, len(got.Used), len(got.Scalings))
		}
	}
}

func expectBeginnings(t *testing.T, name string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %q, want %q", name, got, want)
		return
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%s: %q, want %q", name, got[i], want[i])
		}
	}
}

// TestChooseLeavesTheReferencesAlone: the watch's list is shared.
func TestChooseLeavesTheReferencesAlone(t *testing.T) {
	references := []autoscaler.Reference{reference("ScaledObject/b", 0), reference("HorizontalPodAutoscaler/a", 2)}
	autoscaler.Choose(references, leadtime.Workload{}, 0)
	autoscaler.Choose(references, llama, 0)
	want := []autoscaler.Reference{reference("ScaledObject/b", 0), reference("HorizontalPodAutoscaler/a", 2)}
	if diff := cmp.Diff(want, references); diff != "" {
		t.Error(diff)
	}
}
