package fleet_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/fleet"
)

// A new member repeats its own days. It does not hide what the others asked for a week ago.
func TestANewMemberDoesNotHideTheWeek(t *testing.T) {
	added := member("added", func(time.Time) float64 { return 1 })
	added.ServedPeaks.Start = added.ServedPeaks.Start.Add(10 * 24 * time.Hour)
	added.ServedPeaks.Values = added.ServedPeaks.Values[10*288:]
	f := fleet.Fleet{GPUs: 33, Members: []fleet.Member{office("chat"), added}}
	f.Batch = []fleet.Consumer{batch(2 * time.Hour)}
	if got := plan(t, now(), f).Batch[0]; got.Replicas != 12 {
		t.Errorf("%+v, want 12 batch replicas an hour before the ramp", got)
	}
}

// Two days of history are two days from the first known value on, not of gaps.
func TestHistoryBeginsWithTheFirstValue(t *testing.T) {
	for name, known := range map[string]int{"none": 0, "an hour": 12, "a day and 10 minutes": 290} {
		m := office("chat")
		m.MaxReplicas = 25
		m.ServedPeaks.Start = m.ServedPeaks.Start.Add(-time.Hour)
		// The first hour is older than what is used.
		m.ServedPeaks.Values = append(slices.Repeat([]float64{4}, 12), m.ServedPeaks.Values...)
		for i := 12; i < len(m.ServedPeaks.Values)-known; i++ {
			m.ServedPeaks.Values[i] = math.NaN()
		}
		f := fleet.Fleet{GPUs: 64, Members: []fleet.Member{m, office("code")}}
		f.Batch = []fleet.Consumer{batch(20 * time.Minute)}
		p := plan(t, now(), f)
		if got := p.Batch[0].Replicas; got != 64-25-4 || len(p.Unknown) != 1 {
			t.Errorf("%s: %d batch replicas, unknown %q; want %d and chat", name, got, p.Unknown, 64-25-4)
		}
	}
}
