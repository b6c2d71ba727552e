package hpa_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

func TestDeadBand(t *testing.T) {
	spec := hpa.Spec{
		Min: 1, Max: 30, Cluster: hpa.DefaultCluster(),
		Metrics: []hpa.Metric{{Source: hpa.External, Type: hpa.AverageValue, Target: 80_000}},
	}
	exact, patient, perPod := spec, spec, spec
	none, half := 0.0, 0.5
	exact.Behavior = &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.DefaultScaleDown()}
	exact.Behavior.Up.Tolerance = &none
	patient.Behavior = &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.DefaultScaleDown()}
	patient.Behavior.Down.Tolerance = &half
	perPod.Metrics = []hpa.Metric{{Source: hpa.External, Type: hpa.Value, Target: 80_000}}
	for name, tt := range map[string]struct {
		spec        hpa.Spec
		replicas    int32
		value, want float64
	}{
		"what 5 sustain":                      {spec, 5, 400, 400},
		"a little more is ignored":            {spec, 5, 400.1, 440.001},
		"up to the tolerance":                 {spec, 5, 440, 440.001},
		"above it nothing is":                 {spec, 5, 440.1, 440.1},
		"20 would become 23, and 21 at once":  {spec, 20, 1640, 1640},
		"20 would become 23, and stay":        {spec, 20, 1660, 1760.001},
		"a downward tolerance keeps more":     {patient, 20, 1640, 1760.001},
		"29 become 30, the maximum":           {spec, 29, 2330, 2552.001},
		"at the maximum nothing helps":        {spec, 30, 2410, 2410},
		"without a replica there is no range": {spec, 0, 10, 10},
		"without a tolerance neither":         {exact, 5, 400.1, 400.1},
		"a target for the ready pods":         {perPod, 5, 410, 410},
		"not a number":                        {spec, 5, math.NaN(), math.NaN()},
	} {
		if got := tt.spec.DeadBand(tt.replicas).Pass(tt.value); math.Abs(got-tt.want) > 1e-9 ||
			math.IsNaN(got) != math.IsNaN(tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// The controller ignores every value of the range, starts a replica for what is passed in its place, and then keeps them.
func TestDeadBandIsTheControllers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		up, down := 0.3*rng.Float64(), 0.3*rng.Float64()
		spec := hpa.Spec{
			Min: 1, Max: 2 + rng.Int32N(200), Cluster: hpa.DefaultCluster(),
			Metrics:  []hpa.Metric{{Source: hpa.External, Type: hpa.AverageValue, Target: 1 + rng.Int64N(1e6)}},
			Behavior: &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.DefaultScaleDown()},
		}
		spec.Behavior.Down.Stabilization = 0
		if rng.IntN(2) == 0 {
			spec.Behavior.Up.Tolerance, spec.Behavior.Down.Tolerance = &up, &down
		}
		controller, err := hpa.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		replicas := 1 + rng.Int32N(spec.Max)
		band := spec.DeadBand(replicas)
		at := time.Unix(0, 0)
		sync := func(value float64) int32 {
			at = at.Add(15 * time.Second)
			observed := hpa.Observed{Replicas: replicas, Existing: replicas}
			return controller.SyncValue(hpa.InstantOf(at), &observed, int64(math.Ceil(1000*value-1e-6)))
		}
		value := band.From + (0.001+0.998*rng.Float64())*(band.To-band.From)
		if value = math.Floor(1000*value) / 1000; value <= band.From {
			continue // The range is narrower than the resolution.
		}
		if got := sync(value); got != replicas {
			t.Fatalf("%+v: %d replicas become %d at %v, in the range %+v", spec, replicas, got, value, band)
		}
		passed := band.Pass(value)
		more := sync(passed)
		if more <= replicas {
			t.Fatalf("%+v: %d replicas stay %d at %v, passed for %v", spec, replicas, more, passed, value)
		}
		replicas = more
		if got := sync(value); got != more {
			t.Fatalf("%+v: %d replicas become %d at %v, for which they were started", spec, more, got, value)
		}
	}
}
