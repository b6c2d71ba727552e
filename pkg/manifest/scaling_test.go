package manifest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// referring is an autoscaler of 1 to 20 replicas that refers to the Forecast of header; target 0 leaves it to the Forecast.
func referring(by string, target int64) manifest.Reference {
	return manifest.Reference{
		Forecast: snapshot.Key{Namespace: "inference", Name: "llama"}, Autoscaler: by,
		Workload: leadtime.Workload{Namespace: "inference", APIVersion: "apps/v1", Kind: "Deployment", Name: "llama"},
		Spec: hpa.Spec{
			Min: 1, Max: 20, Cluster: hpa.DefaultCluster(),
			Metrics: []hpa.Metric{{Source: hpa.External, Type: hpa.AverageValue, Target: target * 1000}},
		},
	}
}

// refs are the references to a Forecast.
func refs(all ...manifest.Reference) []manifest.Reference { return all }

// refused is one that cannot count.
func refused(by, reason string) manifest.Reference {
	r := referring(by, 1)
	r.Spec, r.Refused = hpa.Spec{}, reason
	return r
}

// A model that the metric of any autoscaler names is fitted, whether the objective is calibrated for that autoscaler or not.
func TestNamedModels(t *testing.T) {
	by := refused("HorizontalPodAutoscaler/a", "no")
	by.Candidate = "ses"
	of := refs(by, referring("ScaledObject/b", 64), by)
	of[2].Candidate = "auto"
	o := object(t, header+"spec:\n  targetRef: {kind: Deployment, name: llama}\n  signal: {query: x}\n")
	if got := resolve(t, o, manifest.ClusterState{Autoscalers: of}).Named; !slices.Equal(got, []string{"auto", "ses"}) {
		t.Errorf("named are %v", got)
	}
}

func TestWhereTheSettingsComeFrom(t *testing.T) {
	const (
		h     = "HorizontalPodAutoscaler/"
		needs = "badHours 1% is not calibrated, because Forewarm does not know what one replica sustains: let a " +
			"HorizontalPodAutoscaler or a ScaledObject refer to this Forecast, or set spec.scaling.target; until " +
			"then, Forewarm serves the 0.95 quantile of the window peak"
	)
	many := make([]manifest.Reference, 9)
	for i := range many {
		many[i] = refused(fmt.Sprint(h, i), "no")
	}
	const hpa64, own50 = h + "a: 64 a replica, 1 to 20 replicas", "spec.scaling: 50 a replica, 1 to 1000000 replicas"
	const none, silent = "no autoscaler and no spec.scaling", "; ScaledObject/a is not used: nothing says what one replica sustains: " +
		"set target in its trigger's metadata, or spec.scaling.target"
	one := refs(referring(h+"a", 64))
	for _, c := range []struct {
		name, fields                string
		references                  []manifest.Reference
		unread, words, uncalibrated string
	}{
		{"nothing", "", nil, "", none, needs},
		{"an HPA is enough", "", one, "", hpa64, ""},
		{"nothing but spec.scaling", "scaling: {target: 50}", nil, "", own50, ""},
		{"an HPA together with spec.scaling", "scaling: {target: 64, maxReplicas: 5}", one, "", hpa64, ""},
		{"an HPA together with what was before", "scaling: {before: {target: 45}}", one, "", hpa64, ""},
		{"what was before tells no target", "scaling: {before: {target: 45}}", nil, "", none, needs},
		{
			"an HPA that contradicts spec.scaling", "scaling: {target: 50}", one, "",
			hpa64 + "; spec.scaling.target 50 is not used, because autoscalers read this Forecast", "",
		},
		{
			"a trigger that leaves the target to the Forecast", "scaling: {target: 50}", refs(referring("ScaledObject/a", 0)), "",
			"ScaledObject/a: 50 a replica, 1 to 20 replicas", "",
		},
		{
			"a trigger and a Forecast that both leave it to the other", "", refs(referring("ScaledObject/a", 0)), "",
			none + silent, needs + silent,
		},
		{
			"the refused fall back to spec.scaling", "scaling: {target: 50}", refs(refused(h+"a", "its target is of type Value")), "",
			own50 + "; " + h + "a is not used: its target is of type Value", "",
		},
		{
			"rights that are missing", "", refs(referring("ScaledObject/a", 64)), "HPAs cannot be read",
			"ScaledObject/a: 64 a replica, 1 to 20 replicas; HPAs cannot be read", "",
		},
		{"a quantile needs no target, and may have one", `quantile: "0.9"`, one, "", hpa64, ""},
		{"a quantile alone", `quantile: "0.9"`, nil, "", none, ""},
		{
			"a cost ratio needs one, too", `costRatio: "20"`, nil, "", none,
			strings.Replace(needs, "badHours 1%", "costRatio 20", 1),
		},
		{
			"no more than a reader reads", "scaling: {target: 50}", many, "", own50 + "; " + strings.Join([]string{
				h + "0 is not used: no", h + "1 is not used: no", h + "2 is not used: no", h + "3 is not used: no",
			}, "; ") + "; 5 more autoscalers are not used", "",
		},
	} {
		o := object(t,
			header+"spec:\n  targetRef: {kind: Deployment, name: llama}\n  signal: {query: x}\n  "+c.fields+"\n")
		got := resolve(t, o, manifest.ClusterState{Autoscalers: c.references, UnreadReason: c.unread})
		used := none
		for _, s := range got.Autoscalers { // The words tell the autoscaler and its target.
			used = fmt.Sprintf("%s: %g a replica", s.Name, got.Settings.Target)
			if err := s.HPA.Validate(); err != nil {
				t.Errorf("%s: %s: %v", c.name, s.Name, err)
			}
		}
		if !strings.HasPrefix(c.words, used) || len(got.Autoscalers) > 1 || used == none && got.Settings.Target != 0 {
			t.Errorf("%s: target %g, %s", c.name, got.Settings.Target, used)
		}
		if got.AutoscalerSource != c.words || got.Uncalibrated != c.uncalibrated {
			t.Errorf("%s:\n%s\n%s\nwant\n%s\n%s", c.name, got.AutoscalerSource, got.Uncalibrated, c.words,
				c.uncalibrated)
		}
		if (got.Uncalibrated == "") != (got.Settings.ByHeadroom() || got.Settings.Quantile > 0) {
			t.Errorf("%s: by outcome %v, uncalibrated %q", c.name, got.Settings.ByHeadroom(), got.Uncalibrated)
		}
	}
}

// The HPA of another workload reads the same value, and is not limited to what this workload's replicas can use.
func TestASkippedAutoscalerIsNotCappedByAnother(t *testing.T) {
	const h = "HorizontalPodAutoscaler/"
	elsewhere := referring(h+"b", 64)
	elsewhere.Workload.Name = "other"
	for name, c := range map[string]struct {
		state        manifest.ClusterState
		want, unused bool
	}{
		"one HPA":              {manifest.ClusterState{Autoscalers: refs(referring(h+"a", 64))}, false, false},
		"another workload's":   {manifest.ClusterState{Autoscalers: refs(referring(h+"a", 64), elsewhere)}, true, false},
		"a refused one":        {manifest.ClusterState{Autoscalers: refs(referring(h+"a", 64), refused(h+"b", "no"))}, true, false},
		"nothing reads it yet": {manifest.ClusterState{}, false, true},
		"unknown":              {manifest.ClusterState{UnreadReason: "HPAs may not be listed"}, false, false},
	} {
		got := resolve(t, object(t, header+spec("serve: Floor")), c.state)
		if got.Uncapped != c.want || got.Unused != c.unused {
			t.Errorf("%s: uncapped %t, unused %t, want %t, %t", name, got.Uncapped, got.Unused, c.want, c.unused)
		}
	}
}

func TestSameSurroundings(t *testing.T) {
	list := refs(referring("a", 1))
	one := manifest.ClusterState{Autoscalers: list}
	for _, c := range []struct {
		name  string
		other manifest.ClusterState
		want  bool
	}{
		{"the very list", manifest.ClusterState{Autoscalers: list}, true},
		{"another list", manifest.ClusterState{Autoscalers: refs(referring("a", 1))}, false},
		{"none", manifest.ClusterState{}, false},
		{"other words", manifest.ClusterState{Autoscalers: list, UnreadReason: "no"}, false},
		{"other starts", manifest.ClusterState{Autoscalers: list, LeadTime: manifest.MeasuredLeadTime{Source: "1 of 10"}}, false},
	} {
		if got := one.Equal(c.other); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if !(manifest.ClusterState{}).Equal(manifest.ClusterState{}) {
		t.Error("nothing is not the same as nothing")
	}
}

// Exactly 0 is served only if every autoscaler that may read the value is known and may scale to zero, and one of them is an HPA.
func TestScalesToZero(t *testing.T) {
	const h = "HorizontalPodAutoscaler/"
	zero := func(by string) manifest.Reference {
		r := referring(by, 64)
		r.Spec.Min, r.Spec.Cluster.ScaleToZero, r.ScalesToZero = 0, true, true
		return r
	}
	keda := referring("ScaledObject/k", 64)
	keda.ScalesToZero = true
	for _, c := range []struct {
		name, fields string
		references   []manifest.Reference
		unread       string
		want         bool
		never        string
	}{
		{"an HPA", "", refs(zero(h + "a")), "", true, ""},
		{"an HPA and KEDA", "", refs(zero(h+"a"), keda), "", true, ""},
		{"KEDA alone scales to zero by itself", "", refs(keda), "", false, ""},
		{"another HPA has a minimum", "", refs(zero(h+"a"), referring(h+"b", 64)), "", false, h + "b has a minimum of at least 1"},
		{"one is not used", "", refs(zero(h+"a"), refused(h+"b", "no")), "", true, "some autoscalers that read the value are not known or not used"},
		{"some are not read", "", refs(zero(h + "a")), "not allowed", true, "some autoscalers that read the value are not known or not used"},
		{"no autoscaler", "  scaling: {target: 64, minReplicas: 0}\n", nil, "", false, ""},
		{"only minimums of 1", "", refs(referring(h+"a", 64)), "", false, ""},
	} {
		o := object(t, header+"spec:\n  targetRef: {kind: Deployment, name: llama}\n  signal: {query: x}\n"+c.fields)
		got := resolve(t, o, manifest.ClusterState{Autoscalers: c.references, UnreadReason: c.unread})
		if got.ScalesToZero != c.want || got.NeverZero != c.never {
			t.Errorf("%s: %t, %s", c.name, got.ScalesToZero, got.NeverZero)
		}
	}
	disabled := zero(h + "a")
	disabled.DisabledAtZero = true
	o := object(t, header+"spec:\n  targetRef: {kind: Deployment, name: llama}\n  signal: {query: x}\n")
	got := resolve(t, o, manifest.ClusterState{Autoscalers: refs(disabled)}).DisabledAtZero
	if !slices.Equal(got, []string{h + "a"}) {
		t.Errorf("disabled are %q", got)
	}
}
