package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/manifest"
)

func with(r manifest.Reference, change func(*manifest.Reference)) manifest.Reference {
	change(&r)
	return r
}

func TestChoose(t *testing.T) {
	const h, k = "HorizontalPodAutoscaler/", "ScaledObject/"
	llama := referring("", 1).Workload
	other := llama
	other.Name = "mistral"
	older := llama
	older.APIVersion = "apps/v1beta2"
	for _, c := range []struct {
		name       string
		references []manifest.Reference
		own        int64
		// want are name=target; words are in Used, passed in Passed.
		want, words, passed []string
	}{
		{"none", nil, 64_000, nil, nil, nil},
		{
			"in the order of their names",
			[]manifest.Reference{referring(k+"a", 3), referring(h+"b", 2), referring(h+"a", 1)}, 0,
			[]string{h + "a=1", h + "b=2", k + "a=3"}, []string{h + "a: 1 a replica, 1 to 20 replicas"}, nil,
		},
		{
			"those that scale alike are one",
			[]manifest.Reference{referring(h+"a", 1), referring(h+"b", 2), referring(h+"c", 1)}, 0,
			[]string{h + "a=1", h + "b=2"}, []string{h + "a: 1 a replica, 1 to 20 replicas, and " + h + "c"},
			nil,
		},
		{
			"of two metrics the smaller target rules",
			[]manifest.Reference{referring(h+"a", 7), referring(h+"a", 5)}, 0, []string{h + "a=5"}, nil, nil,
		},
		{
			"another workload",
			[]manifest.Reference{with(referring(h+"a", 1), func(r *manifest.Reference) { r.Workload = other })},
			0, nil, nil,
			[]string{h + "a is not used: it scales Deployment.apps/mistral, not Deployment.apps/llama"},
		},
		{
			"another version of the workload's API",
			[]manifest.Reference{with(referring(h+"a", 1), func(r *manifest.Reference) { r.Workload = older })},
			0,
			[]string{h + "a=1"},
			nil, nil,
		},
		{
			"the refused are told", []manifest.Reference{
				refused(h+"a", "no"), referring(h+"b", 2),
			}, 0, []string{h + "b=2"}, nil, []string{h + "a is not used: no"},
		},
		{
			"what contradicts itself",
			[]manifest.Reference{with(referring(h+"a", 1), func(r *manifest.Reference) { r.Spec.Max = 0 })},
			0,
			nil, nil,
			[]string{h + "a is not used: maxReplicas 0: want at least 1"},
		},
		{
			"five that differ",
			[]manifest.Reference{
				referring(h+"a", 1), referring(h+"b", 2), referring(h+"c", 3), referring(h+"d", 4), referring(h+"e", 5),
			},
			0,
			[]string{h + "a=1", h + "b=2", h + "c=3", h + "d=4"},
			nil,
			[]string{h + "e is not used: it scales differently from the first 4"},
		},
		{
			"one that may sleep keeps a replica here",
			[]manifest.Reference{
				with(referring(h+"a", 1), func(r *manifest.Reference) { r.Spec.Min, r.Spec.Cluster.ScaleToZero = 0, true }),
				referring(h+"b", 1),
			},
			0,
			[]string{h + "a=1"},
			[]string{h + "a: 1 a replica, 1 to 20 replicas, and " + h + "b"},
			nil,
		},
		{"the Forecast's own target", []manifest.Reference{referring(k+"a", 0)}, 64_000, []string{k + "a=64"}, nil, nil},
		{
			"what forewarm answers KEDA where an HPA says another target",
			[]manifest.Reference{referring(h+"a", 32), referring(k+"a", 0)}, 64_000, []string{h + "a=32"},
			[]string{h + "a: 32 a replica, 1 to 20 replicas, and " + k + "a"}, nil,
		},
		{
			"no target anywhere", []manifest.Reference{referring(k+"a", 0)}, 0, nil, nil,
			[]string{k + "a is not used: nothing says what one replica sustains"},
		},
	} {
		got := manifest.ChooseAutoscalers(c.references, llama, c.own)
		var scalings []string
		for _, s := range got.Scalings {
			text := manifest.DescribeAutoscaler(decide.Autoscaler{Name: s.Name, HPA: s.HPA})
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
	references := []manifest.Reference{referring("ScaledObject/b", 0), referring("HorizontalPodAutoscaler/a", 2)}
	manifest.ChooseAutoscalers(references, leadtime.Workload{}, 0)
	manifest.ChooseAutoscalers(references, references[0].Workload, 0)
	want := []manifest.Reference{referring("ScaledObject/b", 0), referring("HorizontalPodAutoscaler/a", 2)}
	if diff := cmp.Diff(want, references); diff != "" {
		t.Error(diff)
	}
}
