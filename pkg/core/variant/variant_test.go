package variant_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/distribute"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/variant"
)

const step = 30 * time.Second

func start() time.Time { return time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC) }

// scaled is an HPA of a capacity without scale-down stabilization.
func scaled(capacity int64, least, most int32) hpa.Spec {
	down := hpa.DefaultScaleDown()
	down.Stabilization = 0
	return hpa.Spec{
		Min:      least,
		Max:      most,
		Cluster:  hpa.DefaultCluster(),
		Behavior: &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: down},
		Metrics:  []hpa.Metric{{Name: "demand", Source: hpa.External, Type: hpa.AverageValue, Target: capacity * 1000}},
	}
}

func burst(price float64) variant.Variant {
	return variant.Variant{Name: "burst", HPA: scaled(10, 1, 100), Price: price, Lead: 2 * time.Minute}
}

func base(price float64) variant.Variant {
	return variant.Variant{Name: "base", HPA: scaled(10, 1, 100), Price: price, Lead: 10 * time.Minute}
}

// planned is the plan after values, and the last of them.
func planned(t *testing.T, all []variant.Variant, limits []float64, values ...float64) (variant.Plan, float64) {
	t.Helper()
	p, err := variant.NewPlanner(all, start(), step)
	if err != nil {
		t.Fatal(err)
	}
	p.Limit(limits)
	var plan variant.Plan
	for _, v := range values {
		plan = planOf(t, p.Step(v))
	}
	return plan, values[len(values)-1]
}

// planOf is a planner's plan.
func planOf(t *testing.T, p distribute.Plan) variant.Plan {
	t.Helper()
	plan, ok := p.(variant.Plan)
	if !ok {
		t.Fatalf("%T is no plan of a planner", p)
	}
	return plan
}

func steady(value float64, lasts time.Duration) []float64 {
	return slices.Repeat([]float64{value}, int(lasts/step))
}

// names are the parts in words, in whole units of demand.
func parts(plan distribute.Plan, value float64) map[string]float64 {
	out := map[string]float64{}
	for _, part := range plan.Share(value) {
		out[part.Name] = math.Floor(part.Value)
	}
	return out
}

func TestShares(t *testing.T) {
	spot := variant.Variant{Name: "spot", HPA: scaled(10, 1, 5), Price: .3, Lead: 2 * time.Minute}
	cheap := variant.Variant{Name: "spot", HPA: scaled(10, 1, 50), Price: .3, Lead: 2 * time.Minute}
	large := variant.Variant{Name: "large", HPA: scaled(40, 1, 2), Price: 2, Lead: 2 * time.Minute}
	sleeping := burst(1)
	sleeping.ScalesToZero = true
	free := []variant.Variant{burst(0), base(0)}
	for _, c := range []struct {
		name   string
		all    []variant.Variant
		values []float64
		want   map[string]float64
		limits []float64
	}{
		{"the cheapest is filled first, the rest goes to the next", []variant.Variant{burst(1), spot}, []float64{90}, map[string]float64{"burst": 40, "spot": 50}, nil},
		{"cheap by what it sustains, and not by its replica", []variant.Variant{burst(1), large}, []float64{100}, map[string]float64{"burst": 20, "large": 80}, nil},
		{"the minima are there anyway", []variant.Variant{burst(1), spot}, []float64{5}, map[string]float64{"burst": 10, "spot": 10}, nil},
		{"one that may sleep does", []variant.Variant{sleeping, spot}, []float64{45}, map[string]float64{"burst": 0, "spot": 45}, nil},
		{"a base has what lasts", []variant.Variant{burst(1), base(.5)}, steady(90, time.Hour), map[string]float64{"burst": 10, "base": 80}, nil},
		{
			"a base has not what has just come",
			[]variant.Variant{burst(1), base(.5)},
			append(steady(50, time.Hour), 90),
			map[string]float64{"burst": 50, "base": 40},
			nil,
		},
		{
			"and keeps what has just gone",
			[]variant.Variant{burst(1), base(.5)},
			append(steady(90, time.Hour), 20),
			map[string]float64{"burst": 10, "base": 80},
			nil,
		},
		{
			"what has lasted for a quarter of an hour pays on a base at a quarter of the price",
			[]variant.Variant{burst(1), base(.2)},
			append(steady(50, time.Hour), steady(90, 15*time.Minute)...),
			map[string]float64{"burst": 50, "base": 80},
			nil, // Of which 40 are starting.
		},
		{
			"and not at nine tenths of it",
			[]variant.Variant{burst(1), base(.9)},
			append(steady(50, time.Hour), steady(90, 15*time.Minute)...),
			map[string]float64{"burst": 50, "base": 40},
			nil,
		},
		{"a slow one that is more expensive has what the others cannot hold", []variant.Variant{spot, base(1)}, steady(90, time.Hour), map[string]float64{"spot": 50, "base": 40}, nil},
		{"without prices the slow one is a base, and the first comes before others", free, steady(90, time.Hour), map[string]float64{"burst": 10, "base": 80}, nil},
		{
			"what one cannot hold moves on",
			[]variant.Variant{burst(1), spot},
			[]float64{90},
			map[string]float64{"burst": 60, "spot": 40}, // Of which one tries.
			[]float64{math.Inf(1), 30},
		},
		{
			"what a cheap one cannot hold is the base's, if it lasts",
			[]variant.Variant{burst(1), base(.5), cheap},
			steady(90, time.Hour),
			map[string]float64{"burst": 10, "base": 70, "spot": 20},
			[]float64{math.Inf(1), math.Inf(1), 10},
		},
		{
			"nor is a minimum there that has no place",
			[]variant.Variant{burst(1), spot},
			[]float64{90},
			map[string]float64{"burst": 90, "spot": 10},
			[]float64{math.Inf(1), 0},
		},
		{
			"more than all can hold stays with the first",
			[]variant.Variant{burst(1), spot},
			[]float64{2000},
			map[string]float64{"burst": 1950, "spot": 50},
			nil,
		},
	} {
		plan, value := planned(t, c.all, c.limits, c.values...)
		if diff := cmp.Diff(c.want, parts(plan, value)); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

// While replicas of the base start, the burst has their part. They are ready once its lead time is over.
func TestTheBurstHasWhatStarts(t *testing.T) {
	all := []variant.Variant{burst(1), base(.5)}
	p, err := variant.NewPlanner(all, start(), step)
	if err != nil {
		t.Fatal(err)
	}
	asked, ready := time.Duration(0), time.Duration(0)
	for at := time.Duration(0); at < 3*time.Hour; at += step {
		value := 50.0
		if at >= time.Hour {
			value = 90
		}
		got := p.Step(value).Share(value)
		if asked == 0 && got[1].Starting > 0 {
			asked = at
		}
		if asked > 0 && ready == 0 && got[1].Starting == 0 {
			ready = at
		}
		if now := got[0].Value + got[1].Value - got[1].Starting; now < value {
			t.Fatalf("%s: %v of %v counts", at, now, value)
		}
	}
	if lasted := asked - time.Hour; lasted < 29*time.Minute || lasted > 31*time.Minute {
		t.Errorf("asked of the base after %s, want half an hour", lasted)
	}
	if took := ready - asked; took < 8*time.Minute || took > 10*time.Minute {
		t.Errorf("ready after %s, want 8 minutes and the syncs", took)
	}
}

// TestPartsAddUp holds for any variants, values and limits: what counts adds up to the value, but for minima and dead bands, no part is over
// its limit, and the same history gives the same parts.
func TestPartsAddUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // The same variants each time.
	for range 200 {
		all, limits := randomVariants(rng)
		one, err := variant.NewPlanner(all, start(), step)
		if err != nil {
			t.Fatal(err)
		}
		again, err := variant.NewPlanner(all, start(), step)
		if err != nil {
			t.Fatal(err)
		}
		one.Limit(limits)
		again.Limit(limits)
		value := 100 * rng.Float64()
		for range 100 {
			if rng.IntN(10) == 0 {
				value = 500 * rng.Float64() * math.Round(rng.Float64())
			}
			plan := one.Step(value)
			got := plan.Share(value)
			if diff := cmp.Diff(got, again.Step(value).Share(value)); diff != "" {
				t.Fatal(diff)
			}
			checkParts(t, all, planOf(t, plan), got, value)
		}
	}
}

func checkParts(
	t *testing.T, all []variant.Variant, plan variant.Plan, got []distribute.Part, value float64,
) {
	t.Helper()
	counts, asked, floors, bands, full := 0.0, 0.0, 0.0, 0.0, true
	for _, p := range plan {
		part := got[p.Index]
		counts += part.Value - part.Starting
		asked += part.Value
		full = full && (p.Slow || part.Value >= p.Most)
		floors += p.Floor
		bands += p.Band.To - p.Band.From
		most := math.Max(p.Floor, p.Most+p.Capacity)
		if part.Value < p.Floor || p.Index > 0 && part.Value > most+p.Band.To-p.Band.From+.001 ||
			math.IsNaN(part.Value) {
			t.Fatalf("%s has %v of %v to %v", p.Name, part.Value, p.Floor, most)
		}
	}
	// A base is in whole replicas, and kept when the value falls.
	base := 0.0
	for _, p := range plan {
		base += p.Base
	}
	if asked < value-1e-6 || counts < value-1e-6 && !full ||
		counts > math.Max(value, floors+base)+bands+float64(len(all))*(.002+40) {
		t.Fatalf("%v count of %v, with minima of %v and a base of %v", counts, value, floors, base)
	}
}

func randomVariants(rng *rand.Rand) (all []variant.Variant, limits []float64) {
	priced := rng.IntN(2) == 0
	for i := range 2 + rng.IntN(3) {
		v := variant.Variant{
			Name: string(rune('a' + i)), HPA: scaled(1+rng.Int64N(40), 1+rng.Int32N(2), 3+rng.Int32N(20)),
			Lead: time.Duration(1+rng.IntN(10)) * time.Minute, ScalesToZero: rng.IntN(3) == 0,
		}
		if priced {
			v.Price = .1 + rng.Float64()
		}
		all = append(all, v)
		limits = append(limits, []float64{math.Inf(1), 100 * rng.Float64()}[rng.IntN(2)])
	}
	return all, limits
}

func TestWholeStandsForAll(t *testing.T) {
	all := []variant.Variant{burst(1), base(.5), {Name: "large", HPA: scaled(40, 1, 4)}}
	got := variant.Whole(all)
	if got.Min != 6 || got.Max != 216 || got.Metrics[0].Target != 10_000 {
		t.Errorf("%d to %d replicas of %d", got.Min, got.Max, got.Metrics[0].Target)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
}

// What cannot be planned has no Distributor, so that no one asks it.
func TestNoDistributorAfterAnError(t *testing.T) {
	invalid := burst(1)
	invalid.HPA.Max = 0
	if d, err := variant.Distribute([]variant.Variant{invalid})(start(), step); err == nil || d != nil {
		t.Errorf("%v, %v", d, err)
	}
}

// Whole hours are paid for as they are over, and those of each variant by its place in the list.
func TestReplicaHours(t *testing.T) {
	if variant.Distribute(nil) != nil {
		t.Error("one workload is distributed")
	}
	all := []variant.Variant{burst(1), base(0.5)}
	d, err := variant.Distribute(all)(start(), step)
	if err != nil {
		t.Fatal(err)
	}
	for range int(3 * time.Hour / step) {
		d.Step(100)
	}
	if one, three := d.ReplicaHours(
		1,
	), d.ReplicaHours(
		3,
	); len(one) != 2 || one[1] < 5 || three[1] < 2*one[1] ||
		one[0]+one[1] < 9.9 {
		t.Errorf("%v in an hour, %v in three", one, three)
	}
}
