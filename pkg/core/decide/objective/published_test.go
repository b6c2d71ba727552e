package objective_test

import (
	"encoding/base64"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// servedFrom is a value that was served from a time on.
func servedFrom(from time.Time, value float64) objective.Served {
	return func(at time.Time) (float64, bool) { return value, !at.Before(from) }
}

// monday is the time at which the demands of these tests begin.
var monday = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// publishing plays a demand, of which so little is served from a time on that everything is late, and returns the player.
func publishing(t *testing.T, demand []float64, from time.Time) *player {
	t.Helper()
	c := config(t, 0.01)
	c.Start = monday
	p := newPlayer(t, c)
	p.Publish(servedFrom(from, 20))
	play(p, demand)
	return p
}

// TestPublishedByClockHours: from the time on at which Forewarm serves, the report has what the served values did, by clock hours, and
// before that what the replay would have served.
func TestPublishedByClockHours(t *testing.T) {
	demand := days(3, 5)
	from := monday.Add(2*24*time.Hour + 90*time.Minute)
	replay := newPlayer(t, func() objective.Config { c := config(t, 0.01); c.Start = monday; return c }())
	play(replay, demand)
	r, without := publishing(t, demand, from).Report(), replay.Report()
	if without.Served.BadShare() > .05 || without.Record != nil {
		t.Errorf("the replay has %+v and the record %v", without.Served, without.Record)
	}
	if r.Bad.Judged != 71 || r.Served.BadHours < 20 { // The last minute of the last hour has not come.
		t.Errorf("%d of %d hours are bad", r.Served.BadHours, r.Bad.Judged)
	}
	for _, h := range r.Bad.Worth {
		if h.Start.Minute() != 0 || h.Replayed != h.Start.Before(from.Truncate(time.Hour)) || h.Late <= .1 ||
			h.Demand <= 0 {
			t.Errorf("a bad hour %+v", h)
		}
	}
	if r.Record == nil || !r.Record.Through.Equal(monday.Add(71*time.Hour)) {
		t.Errorf("the record is %+v", r.Record)
	}
}

// TestTheRecordMovesOn: a Calibrator that replays the history again keeps what was published, whatever its own replay says, and so does one
// that knows the record of a status alone.
func TestTheRecordMovesOn(t *testing.T) {
	demand := days(4, 5)
	from := monday.Add(24 * time.Hour)
	first := publishing(t, demand[:3*day], from)
	want := first.Report()

	c := config(t, 0.01)
	c.Start = monday
	adopting := newPlayer(t, c)
	play(adopting, demand[:2*day]) // A replay that ends before what was published.
	adopting.Adopt(first.Calibrator)
	adopting.Publish(servedFrom(from, 20))
	play(adopting, demand[2*day:3*day])
	if got := adopting.Report(); got.Served != want.Served || *got.Record != *want.Record {
		t.Errorf("adopted: %+v and %+v, want %+v and %+v", got.Served, got.Record, want.Served, want.Record)
	}

	restarted := newPlayer(t, c)
	play(restarted, demand[:2*day])
	restarted.Publish(servedFrom(monday.Add(96*time.Hour), 20))
	restarted.Restore(want.Record) // Of hours that are still to come, too.
	play(restarted, demand[2*day:3*day])
	restarted.Restore(want.Record)
	got := restarted.Report()
	if !cmp.Equal(got.Served, want.Served, cmpopts.EquateApprox(1e-12, 0)) || *got.Record != *want.Record ||
		got.Served.BadHours != want.Served.BadHours {
		t.Errorf("restored: %+v, want %+v", got.Served, want.Served)
	}
	bad := 0
	for _, i := range got.Replay.Intervals {
		if i.Forewarm.Late > .1 {
			bad++
		}
	}
	if bad < len(got.Replay.Intervals)/2 {
		t.Errorf("%d of %d intervals are late", bad, len(got.Replay.Intervals))
	}
}

// TestARecordOfOtherUnits is not used: the wait or the capacity of a replica was another one.
func TestARecordOfOtherUnits(t *testing.T) {
	demand := days(3, 5)
	record := publishing(t, demand, monday).Report().Record
	for _, change := range []func(*objective.Record){
		func(r *objective.Record) { r.Wait *= 2 },
		func(r *objective.Record) { r.Capacity = 11 },
		func(r *objective.Record) { r.Hours = "?" },
	} {
		other := *record
		change(&other)
		p := newPlayer(t, func() objective.Config { c := config(t, 0.01); c.Start = monday; return c }())
		play(p, demand)
		before := p.Report().Served
		p.Restore(&other)
		if p.Report().Served != before {
			t.Errorf("%+v is used", other)
		}
	}
}

// FuzzRecord: whatever stands in a status, it is refused or leads to finite sums that a record holds as they are.
func FuzzRecord(f *testing.F) {
	f.Add([]byte{0x44, 0, 0x48, 0, 0xc0, 0}, int64(0))
	f.Add([]byte{0x7c, 0, 0x48, 0, 0xc0, 0}, int64(0))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, int64(3600))
	f.Fuzz(func(t *testing.T, hours []byte, seconds int64) {
		c := config(t, 0.01)
		c.Start, c.Candidates = monday, c.Candidates[:1]
		o, err := objective.NewCalibrator(c)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 * 60 {
			o.Step(
				objective.Step{
					Observed:    30,
					Arrived:     30,
					Peaks:       make([]windowpeak.Peak, 1),
					HasForecast: []bool{false},
				},
			)
		}
		o.Publish(servedFrom(monday, 30))
		r := objective.Record{
			Through: monday.Add(4*time.Hour + time.Duration(seconds)*time.Second), Wait: 30 * time.Second, Capacity: 10,
			Hours: base64.StdEncoding.EncodeToString(hours),
		}
		valid := r.Validate() == nil
		before := o.Report().Served
		o.Restore(&r)
		got := o.Report()
		if s := got.Served; !valid && s != before || math.IsNaN(s.Late+s.ReplicaHours+s.Arrived) ||
			math.IsInf(s.Late+s.ReplicaHours+s.Arrived, 0) ||
			s.Late > s.Arrived ||
			s.Bad > s.Judged {
			t.Errorf("valid: %v, %+v", valid, s)
		}
		if got.Record != nil {
			if err := got.Record.Validate(); err != nil {
				t.Error(err)
			}
		}
	})
}
