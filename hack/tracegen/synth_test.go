package main

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/stat"
)

// plain is a shape without anything random: what is seen is the level itself.
func plain() shape {
	return shape{
		Start: time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC), Length: 14 * 24 * time.Hour,
		Base: 100, Weekend: 1, Shift: 1, Memory: time.Hour,
		Observe: func(level float64, _ rand.Source) float64 { return level },
	}
}

func at(day, hour, minute int) int { return day*1440 + hour*60 + minute }

func TestTheSameSeedIsTheSameTrace(t *testing.T) {
	shape := plain()
	shape.Wander, shape.BurstsPerDay, shape.BurstHeight, shape.Observe = 0.1, 3, 2, counts(3)
	first, second := generate(shape), generate(shape)
	if diff := cmp.Diff(first, second, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("two traces of one seed differ:\n%s", diff)
	}
	shape.Seed++
	if cmp.Equal(first, generate(shape), cmpopts.EquateNaNs()) {
		t.Error("another seed makes the same trace")
	}
}

func TestPartsOfAShape(t *testing.T) {
	shape := plain()
	shape.Weekend = 0.5
	shape.ShiftAt, shape.Shift = 10*24*time.Hour, 2
	shape.OutageAt, shape.Outage = 3*24*time.Hour, 30*time.Minute
	shape.Open, shape.BurstAt, shape.BurstHeight = 3, 4*24*time.Hour+19*time.Hour, 2
	v := generate(shape).Values
	for _, c := range []struct {
		name string
		i    int
		want float64
	}{
		{"a Monday before nine is ordinary", at(0, 9, 0), 100},
		{"at noon it is open", at(0, 12, 0), 300},
		{"after half of the quarter of an hour it is half closed", at(0, 17, 7), 206.67},
		{"and then closed", at(0, 17, 15), 100},
		{"the burst begins", at(4, 19, 0), 100},
		{"and reaches half of its height in minutes", at(4, 19, 2), 210.64},
		{"the outage begins", at(3, 0, 0), math.NaN()},
		{"and ends", at(3, 0, 30), 100},
		{"Friday, 21:00: the week's last ordinary minute", at(4, 21, 0), 100},
		{"half-way to the weekend at midnight", at(5, 0, 0), 75},
		{"a Saturday at noon", at(5, 18, 0), 50},
		{"half-way back on Monday at midnight", at(7, 0, 0), 75},
		{"just before the shift", at(9, 23, 59), 100},
		{"from the shift on", at(10, 0, 0), 200},
		{"the second weekend, shifted", at(12, 18, 0), 100},
	} {
		if diff := cmp.Diff(c.want, v[c.i], cmpopts.EquateNaNs(), cmpopts.EquateApprox(0, 0.01)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestTheDayPeaksInTheAfternoon(t *testing.T) {
	shape := plain()
	shape.Day = 0.3
	v := generate(shape).Values[:1440]
	high, low := 0, 0
	for i := range v {
		if v[i] > v[high] {
			high = i
		}
		if v[i] < v[low] {
			low = i
		}
	}
	if high < at(0, 11, 0) || high > at(0, 17, 0) || low < at(0, 1, 0) || low > at(0, 6, 0) {
		t.Errorf("the peak is at minute %d and the trough at %d, want an afternoon and a night", high, low)
	}
}

func TestBurstsOnlyAdd(t *testing.T) {
	shape := plain()
	shape.BurstsPerDay, shape.BurstHeight = 4, 2
	bursts, highest := 0, 0.0
	v := generate(shape).Values
	for i := 1; i < len(v); i++ {
		if v[i] < 100 {
			t.Fatalf("minute %d: %.2f below the level without bursts", i, v[i])
		}
		if v[i-1] <= 100.5 && v[i] > 100.5 {
			bursts++
		}
		highest = max(highest, v[i])
	}
	// 56 are expected; overlaps merge.
	if bursts < 30 || bursts > 80 || highest < 150 || highest > 500 {
		t.Errorf("%d bursts up to %.0f, want about 56 up to twice or thrice the level", bursts, highest)
	}
}

func TestCountsHaveTheirDispersion(t *testing.T) {
	for _, dispersion := range []float64{1, 4} {
		observe, source := counts(dispersion), rand.NewPCG(7, 7)
		counts := make([]float64, 20_000)
		for i := range counts {
			counts[i] = observe(1000, source)
		}
		mean, variance := stat.MeanVariance(counts, nil)
		// Standard errors: of the mean √(1000·4/20,000) = 0.45, of the variance 1 %.
		if math.Abs(mean-1000) > 2 || math.Abs(variance/mean/dispersion-1) > 0.05 {
			t.Errorf("mean %.1f and dispersion %.2f, want 1000 and %v", mean, variance/mean, dispersion)
		}
		if zero := observe(0, source); zero != 0 {
			t.Errorf("no load counts %v events", zero)
		}
	}
}

func TestBusyNeverExceedsTheDevices(t *testing.T) {
	observe, source := busy(6, 0), rand.NewPCG(1, 1)
	for _, c := range []struct{ level, least, most float64 }{
		{0, 0, 0}, {1, 0.99, 1}, {6, 4.9, 5.2}, {1000, 5.99, 6},
	} {
		if got := observe(c.level, source); got < c.least || got > c.most {
			t.Errorf("%v devices' work keeps %.3f of 6 busy, want %v to %v", c.level, got, c.least, c.most)
		}
	}
}
