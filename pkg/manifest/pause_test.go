package manifest_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// pauseOf is the pause of a manifest as a folder or a cluster has it, with an annotation, spec.scaling and autoscalers.
func pauseOf(t *testing.T, annotation, scaling string, references ...manifest.Reference) decide.Pause {
	t.Helper()
	head := strings.Replace(header, "namespace: inference}", "namespace: inference, annotations: {"+annotation+"}}", 1)
	field := "serve: Floor"
	if scaling != "" {
		field = "scaling: {" + scaling + "}"
	}
	return resolve(t, object(t, head+spec(field)), manifest.ClusterState{Autoscalers: references}).Pause
}

func TestThePauseAnnotation(t *testing.T) {
	for value, want := range map[string]string{
		`"true"`: "paused", `"True"`: "paused", `"1"`: "paused", `"false"`: "", `"0"`: "",
		`"yes"`: "invalid", `"true "`: "invalid", `""`: "invalid", `"` + strings.Repeat("x", 1000) + `"`: "invalid",
	} {
		p, got := pauseOf(t, v1alpha1.PauseAnnotation+": "+value, "target: 64"), ""
		switch {
		case p.Active() && p.Invalid == "":
			got = "paused"
		case p.Invalid != "" && len(p.Message()) < 300:
			got = "invalid"
		}
		if got != want {
			t.Errorf("%s: %q, want %q: %+v", value, got, want, p)
		}
	}
	if p := pauseOf(t, "a.example/b: c", "target: 64"); p != (decide.Pause{}) {
		t.Errorf("without the annotation: %+v", p)
	}
}

func TestAPauseServesWhatTheHPABeforeNeeds(t *testing.T) {
	const h, on = "HorizontalPodAutoscaler/", v1alpha1.PauseAnnotation + `: "true"`
	elsewhere, quick := referring(h+"b", 64), referring(h+"a", 64)
	elsewhere.Workload.Name = "other"
	two := refs(referring(h+"a", 64), referring(h+"b", 90))
	mixed := refs(referring(h+"a", 64), elsewhere)
	quick.Spec.Behavior = &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.DefaultScaleDown()}
	quick.Spec.Behavior.Down.Stabilization = time.Minute
	for name, c := range map[string]struct {
		scaling    string
		references []manifest.Reference
		value      float64 // of 90 observed
		hold       time.Duration
		assumed    string
	}{
		"what the HPA sustains, and the target before": {
			"before: {target: 45}", refs(referring(h+"a", 64)), 128, 0, "",
		},
		"spec.scaling": {"target: 64, before: {target: 45}", nil, 128, 5 * time.Minute, ""},
		"a trigger that leaves the target to the Forecast": {
			"target: 64, before: {target: 45}", refs(referring("ScaledObject/a", 0)), 128, 0, "",
		},
		"minReplicas before":    {"target: 64, before: {target: 45, minReplicas: 5}", nil, 320, 5 * time.Minute, ""},
		"another stabilization": {"before: {target: 45}", refs(quick), 128, 4 * time.Minute, ""},
		"without before":        {"", refs(referring(h+"a", 64)), 90 / .7, 0, "set spec.scaling.before.target"},
		"two targets":           {"before: {target: 45}", two, 180, 0, "lower targets"},
		"nothing known":         {"before: {target: 45}", nil, 90 / .7, 5 * time.Minute, "let an HPA or a Scaled"},
		"one of another's":      {"before: {target: 60}", mixed, 90 / .7, 5 * time.Minute, "unknown targets"},
		"the larger of both":    {"before: {target: 32}", mixed, 180, 5 * time.Minute, "unknown targets"},
	} {
		p := pauseOf(t, on, c.scaling, c.references...)
		got := p.Apply(decide.Decision{}, 90).Value
		if math.Abs(got-c.value) > 1e-9 || p.Hold != c.hold || (p.Assumed == "") != (c.assumed == "") ||
			!strings.Contains(p.Message(), c.assumed) {
			t.Errorf("%s: %g over %s, %q; want %g over %s", name, got, p.Hold, p.Message(), c.value, c.hold)
		}
	}
}

// Whatever the demand, the targets and the replicas are: the HPA has no fewer replicas than the one before, and at most one more,
// by the thousandth to which a metric is rounded up.
func TestAPauseNeverHasFewerReplicas(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		capacity, before := 1+r.Int64N(1_000_000), 1+r.Int64N(1_000_000)
		running := 1 + r.Int32N(100)
		observed := math.Round(math.Exp(r.Float64()*16)*1000) / 1000
		p := decide.Pause{Capacity: float64(capacity) / 1000, Target: float64(before) / 1000}
		served := int64(math.Ceil(p.Apply(decide.Decision{}, observed).Value * 1000))
		propose := func(target, value int64) int32 {
			s := hpa.Spec{
				Min: 1, Max: math.MaxInt32, Cluster: hpa.DefaultCluster(),
				Metrics: []hpa.Metric{{Source: hpa.External, Type: hpa.AverageValue, Target: target}},
			}
			now := &hpa.Observed{Replicas: running, Existing: running, Ready: running}
			return s.Propose(&s.Metrics[0], now, hpa.Reading{Values: []int64{value}}).Replicas
		}
		was, is := propose(before, int64(math.Round(observed*1000))), propose(capacity, served)
		if is < was || is > was+1 {
			t.Fatalf("%g observed, %+v: %d replicas, %d before", observed, p, is, was)
		}
	}
}
