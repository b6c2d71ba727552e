package main

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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

// What is random is held by the committed traces, to the last digit.
func TestPartsOfAShape(t *testing.T) {
	shape := plain()
	shape.Weekend = 0.5
	shape.ShiftAt, shape.Shift = 10*24*time.Hour, 2
	shape.OutageAt, shape.Outage = 3*24*time.Hour, 30*time.Minute
	shape.Open, shape.OpenFade = 3, 15*time.Minute
	v := generate(shape).Values
	for _, c := range []struct {
		name string
		i    int
		want float64
	}{
		{"a Monday before nine is ordinary", at(0, 9, 0), 100},
		{"at noon it is open", at(0, 12, 0), 300},
		{"half open after a quarter of an hour", at(1, 9, 15), 200},
		{"half closed at six", at(0, 18, 0), 200},
		{"and closed an hour later", at(0, 19, 0), 100},
		{"closed on a Saturday", at(5, 12, 0), 50},
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
	if zero := counts(4)(0, rand.NewPCG(7, 7)); zero != 0 {
		t.Errorf("no load counts %v events", zero)
	}
}
