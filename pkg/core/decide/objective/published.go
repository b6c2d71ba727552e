package objective

import (
	"math"
	"reflect"
	"time"

	"github.com/forewarm/forewarm/pkg/core/clone"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// Served returns the value that was in force at a time; known is false for times at which Forewarm did not serve.
type Served func(at time.Time) (value float64, known bool)

// published is what the report says of the past, by clock hours in UTC: what the served values did, as far back as Forewarm served, and
// before that what the replay of the history would have served. It moves on to the Calibrator of the next replay, so that an hour that
// has ended does not change any more.
type published struct {
	// end of the newest step that is recorded, and of the newest one that simulated has played.
	end, played time.Time
	// simulated is the first autoscaler with the values that were served. It is nil until Publish: then the replay is recorded.
	simulated *sim.Simulation
	served    Served
	open      openHour
	hours     hourLog
	race      *race
	restored  Record
}

// openHour is the hour that has not ended: how much of it is known, and how much of that Forewarm served.
type openHour struct {
	clockHour

	known, live time.Duration
}

func newPublished(c Config) *published {
	return &published{end: c.Start, played: c.Start, race: newRace(c, c.period()), hours: newHourLog(c)}
}

// sums are those of the first workload of a simulation since it was reset.
type sums struct{ arrived, late, paid, capped, deferrable, missed float64 }

func sumsOf(s *sim.Simulation) sums {
	score := s.Score()
	return sums{score.Arrived, score.Late[0], score.Paid[0], score.Capped[0], score.Deferrable, score.Missed}
}

func (s sums) minus(before sums) sums {
	return sums{
		s.arrived - before.arrived, s.late - before.late, s.paid - before.paid, s.capped - before.capped,
		s.deferrable - before.deferrable, s.missed - before.missed,
	}
}

// playedStep is a step that the replay has played.
type playedStep struct {
	end                 time.Time
	step                time.Duration
	arrived, deferrable float64
	// value that the replay served, what it came to, and how many replicas were ready with it.
	value float64
	sums  sums
	ready int
	// before is what the autoscaler before had and let wait.
	before played
}

// skip passes the first step of a replay, of which nothing is played.
func (p *published) skip(end time.Time, step time.Duration) {
	if end.Before(p.end) || p.simulated != nil {
		return
	}
	p.end, p.played = end, end
	p.open.known += step
	p.race.skip(step)
}

// record records a step, unless that was done before.
func (p *published) record(s playedStep) {
	live := false
	if p.simulated != nil && s.end.After(p.played) {
		p.played = s.end
		value, known := p.served(s.end.Add(-s.step))
		if live = known; !known {
			value = s.value
		}
		s.sums = p.play(value, s)
		s.ready = p.simulated.Ready(0)
	}
	if !s.end.After(p.end) {
		return
	}
	p.end = s.end
	p.race.record(s.arrived, s.step, s.before, played{s.ready, s.sums.late})
	p.open.add(s, live)
	if sim.EndsHour(s.end, s.step) {
		p.hours.push(sim.HourOf(s.end), p.open.ended())
		p.open = openHour{}
	}
}

// play plays a step with the value that was served.
func (p *published) play(value float64, s playedStep) sums {
	p.simulated.Reset()
	p.simulated.Defer(s.deferrable)
	p.simulated.Play([]float64{value}, s.arrived)
	return sumsOf(p.simulated)
}

func (o *openHour) add(s playedStep, live bool) {
	o.arrived += s.sums.arrived
	o.late += s.sums.late
	o.paid += s.sums.paid
	o.capped += float32(s.sums.capped)
	o.deferrable += float32(s.sums.deferrable)
	o.missed += float32(s.sums.missed)
	if !math.IsNaN(s.arrived) {
		o.known += s.step
		o.peak = max(o.peak, float32(s.arrived))
	}
	if live {
		o.live += s.step
	}
}

// minKnown is how much of an hour must be known to judge it. A single missing or masked sample must not hide a bad hour.
const minKnown = 54 * time.Minute

// ended is the hour when it has ended.
func (o *openHour) ended() clockHour {
	out := o.clockHour
	out.judged = o.known >= minKnown
	out.recorded = o.live >= time.Hour/2
	return out
}

// Publish records from now on what the values do that are really served, instead of those of this replay. Where none is known, the
// replay's value is played.
func (o *Calibrator) Publish(served Served) {
	p := o.published
	if p.simulated == nil {
		p.simulated, p.played, p.served = clone.Of(o.goals[0].accounts.simulated), o.end, served
	}
}

// Adopt takes over what another Calibrator has published, unless this one publishes already. Replica-hours must mean the same in both:
// where the capacity of a replica or the wait differ, nothing is taken over.
func (o *Calibrator) Adopt(from *Calibrator) {
	if from == nil || from == o || o.published.simulated != nil || from.published.simulated == nil ||
		!o.sameUnits(from) {
		return
	}
	old := from.published
	if old.end.Before(o.end) { // Steps are missing in between.
		o.Publish(old.served)
		for ago := range old.hours.ring.Len() {
			o.published.hours.set(old.hours.end.Add(-time.Duration(ago+1)*time.Hour), *old.hours.ring.Ref(ago))
		}
		return
	}
	if !reflect.DeepEqual(from.config.Autoscalers[0].Spec, o.config.Autoscalers[0].Spec) {
		old.simulated, old.played = clone.Of(o.goals[0].accounts.simulated), o.end
	}
	o.published = old
}

// sameUnits reports whether lateness and replica-hours mean the same for two Calibrators.
func (o *Calibrator) sameUnits(other *Calibrator) bool {
	return o.config.Step == other.config.Step && o.config.period() == other.config.period() &&
		o.unit() == other.unit()
}

// unit is what lateness and replica-hours are about.
func (o *Calibrator) unit() unit {
	spec := o.config.Autoscalers[0].Spec.WithDefaults()
	return unit{wait: spec.Wait, capacity: spec.Capacity}
}

// unit is what lateness and replica-hours are about: how long demand may wait, and what a replica sustains.
type unit struct {
	wait     time.Duration
	capacity float64
}

// compared is how many of the newest clock hours are known of the served value and of the autoscalers that it is compared with.
func (o *Calibrator) compared() int { return min(o.published.hours.ring.Len(), o.rivals.hours.Len()) }
