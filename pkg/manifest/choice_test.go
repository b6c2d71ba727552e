package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	asleep := func(r *manifest.Reference) { r.Spec.Min, r.Spec.Cluster.ScaleToZero = 0, true }
	const of1 = h + "a: 1 a replica, 1 to 20 replicas"
	for _, c := range []struct {
		name       string
		references []manifest.Reference
		own        int64
		// want are name=target; used begins the first in Used, skipped the only one in Skipped.
		want, used, skipped string
	}{
		{"none", nil, 64_000, "", "", ""},
		{
			"in the order of their names", refs(referring(k+"a", 3), referring(h+"b", 2), referring(h+"a", 1)), 0,
			h + "a=1 " + h + "b=2 " + k + "a=3", of1, "",
		},
		{
			"those that scale alike are one", refs(referring(h+"a", 1), referring(h+"b", 2), referring(h+"c", 1)), 0,
			h + "a=1 " + h + "b=2", of1 + ", and " + h + "c", "",
		},
		{"of two metrics the smaller target rules", refs(referring(h+"a", 7), referring(h+"a", 5)), 0, h + "a=5", "", ""},
		{
			"another workload", refs(with(referring(h+"a", 1), func(r *manifest.Reference) { r.Workload = other })), 0, "", "",
			h + "a is not used: it scales Deployment.apps/mistral, not Deployment.apps/llama",
		},
		{
			"another version of the workload's API",
			refs(with(referring(h+"a", 1), func(r *manifest.Reference) { r.Workload = older })), 0, h + "a=1", "", "",
		},
		{
			"the refused are told", refs(refused(h+"a", "no"), referring(h+"b", 2)), 0, h + "b=2", "",
			h + "a is not used: no",
		},
		{
			"what contradicts itself", refs(with(referring(h+"a", 1), func(r *manifest.Reference) { r.Spec.Max = 0 })), 0, "", "",
			h + "a is not used: maxReplicas 0: expected at least 1",
		},
		{
			"five that differ",
			refs(referring(h+"a", 1), referring(h+"b", 2), referring(h+"c", 3), referring(h+"d", 4), referring(h+"e", 5)), 0,
			h + "a=1 " + h + "b=2 " + h + "c=3 " + h + "d=4", "",
			h + "e is not used: its settings differ from those of the first 4 autoscalers",
		},
		{
			"one that may sleep keeps a replica here", refs(with(referring(h+"a", 1), asleep), referring(h+"b", 1)), 0,
			h + "a=1", of1 + ", and " + h + "b", "",
		},
		{"the Forecast's own target", refs(referring(k+"a", 0)), 64_000, k + "a=64", "", ""},
		{
			"what forewarm answers KEDA where an HPA says another target", refs(referring(h+"a", 32), referring(k+"a", 0)), 64_000,
			h + "a=32", h + "a: 32 a replica, 1 to 20 replicas, and " + k + "a", "",
		},
		{
			"no target anywhere", refs(referring(k+"a", 0)), 0, "", "",
			k + "a is not used: nothing says what one replica sustains",
		},
	} {
		got := manifest.ChooseAutoscalers(c.references, llama, c.own)
		var scalings []string
		for _, s := range got.Autoscalers {
			scalings = append(scalings, fmt.Sprintf("%s=%g", s.Name, s.Target()))
		}
		if all := strings.Join(scalings, " "); all != c.want || len(got.Used) != len(scalings) {
			t.Errorf("%s: %s, %q, want %s", c.name, all, got.Used, c.want)
		}
		if c.used != "" && (len(got.Used) == 0 || !strings.HasPrefix(got.Used[0], c.used)) {
			t.Errorf("%s: %q, want %q", c.name, got.Used, c.used)
		}
		if told := strings.Join(got.Skipped, "\n"); !strings.HasPrefix(told, c.skipped) ||
			(told == "") != (c.skipped == "") ||
			len(got.Skipped) > 1 {
			t.Errorf("%s: %q, want %q", c.name, got.Skipped, c.skipped)
		}
	}
}

// TestChooseLeavesTheReferencesAlone: the watch's list is shared.
func TestChooseLeavesTheReferencesAlone(t *testing.T) {
	references := refs(referring("ScaledObject/b", 0), referring("HorizontalPodAutoscaler/a", 2))
	manifest.ChooseAutoscalers(references, leadtime.Workload{}, 0)
	manifest.ChooseAutoscalers(references, references[0].Workload, 0)
	want := refs(referring("ScaledObject/b", 0), referring("HorizontalPodAutoscaler/a", 2))
	if diff := cmp.Diff(want, references); diff != "" {
		t.Error(diff)
	}
}
