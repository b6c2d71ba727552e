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

// A gap of yesterday does not hide the ramp: the day before yesterday shows it.
func TestAGapDoesNotHideTheRamp(t *testing.T) {
	at := now().Add(2*24*time.Hour + 40*time.Minute) // Wednesday, 07:40.
	m := member("chat", func(at time.Time) float64 {
		if at.Hour() < 8 || at.Hour() >= 18 {
			return 4
		}
		return 20
	})
	for range 2 * 288 { // The member continues for two days.
		m.ServedPeaks.Values = append(m.ServedPeaks.Values, m.ServedPeaks.Values[len(m.ServedPeaks.Values)-288])
	}
	m.ServedPeaks.Start = m.ServedPeaks.Start.Add(11 * 24 * time.Hour)
	m.ServedPeaks.Values = m.ServedPeaks.Values[11*288:]
	for gap := now().Add(23 * time.Hour); gap.Before(now().Add(30 * time.Hour)); gap = gap.Add(fleet.Cell) {
		m.ServedPeaks.Values[int(gap.Sub(m.ServedPeaks.Start)/fleet.Cell)] = math.NaN() // Tuesday from 06:00 to 13:00.
	}
	f := fleet.Fleet{GPUs: 32, Members: []fleet.Member{extended(m, at)}, Batch: []fleet.Consumer{batch(time.Hour)}}
	if got := plan(t, at, f).Batch[0]; got.Replicas != 12 {
		t.Errorf("%+v, want 12 batch replicas", got)
	}
}
