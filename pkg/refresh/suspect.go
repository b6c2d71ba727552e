package refresh

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/credible"
	"github.com/forewarm/forewarm/pkg/repair"
	"github.com/forewarm/forewarm/pkg/snapshot"
)

// screened is the demand of [from, to) and what it is worth, as far as that can be said by now: without the samples that are
// held back as suspects, and with those that were held back before. In hindsight, as a whole history is read, suspects that
// were corroborated later in it are none.
func (w *worker) screened(from, to time.Time, hindsight bool) repair.Series {
	raw := w.demand(from, to)
	w.judged = raw.End()
	start := raw.Start.Add(-time.Duration(len(w.filter.Waiting())) * raw.Step)
	judged := make([]credible.Sample, 0, raw.Len())
	for _, v := range raw.Values {
		judged = append(judged, w.filter.Step(v)...)
	}
	out := repair.Series{
		Series: forecast.Series{Start: start, Step: raw.Step, Values: make([]float64, len(judged))},
		Causes: make([]repair.Cause, len(judged)), Bounds: make([]credible.Bound, len(judged)),
	}
	for i, s := range judged {
		at := out.TimeAt(i)
		sample := w.screen.Step(repair.Reading{
			Demand:    s.Demand,
			Suspect:   s.Suspect && !(hindsight && s.Demand <= w.filter.Cap()),
			Saturated: w.limits != nil && w.limits.At(at),
			Asleep:    w.target.AtZero.At(at),
		})
		w.spans.Add(at, sample.Cause)
		w.suspected(at, sample.Cause)
		out.Values[i], out.Causes[i], out.Bounds[i] = sample.Value, sample.Cause, s.Bound
	}
	return out
}

// suspected remembers a suspect for as long as the fallback may look back: a lead window before the newest sample, which is
// no older than what is stale.
func (w *worker) suspected(at time.Time, cause repair.Cause) {
	for len(w.suspects) > 0 && at.Sub(w.suspects[0]) > Window(w.target.Lead)+w.target.StaleAfter+2*w.target.Step {
		w.suspects = w.suspects[1:]
	}
	if cause == repair.Suspect {
		w.suspects = append(w.suspects, at)
	}
}

// suspend marks the samples that are held back.
func (w *worker) suspend(e *snapshot.Entry) {
	w.found.suspect = nil
	held := w.filter.Waiting()
	if len(held) == 0 {
		return
	}
	s := suspect{
		since:  w.forecaster.End(),
		served: e.Observed,
		bound:  held[len(held)-1].Bound.Most,
		lasts:  w.filter.Corroboration(),
	}
	for _, h := range held {
		s.highest = math.Max(s.highest, h.Demand)
	}
	e.Repairs = append(e.Repairs, repair.Span{
		From: s.since, To: w.judged, Cause: repair.Suspect, Samples: len(held),
	})
	w.found.suspect = &s
}

// suspect is a demand that is far above all that its history has shown, and may be a fault of the measurement.
type suspect struct {
	since          time.Time
	highest, bound float64
	served         float64
	lasts          time.Duration
}

// String says what is seen, what is done about it, and until when.
func (s *suspect) String() string {
	until := fmt.Sprintf(
		"nothing is learnt from it unless it lasts until %s or comes again",
		clock(s.since.Add(s.lasts)),
	)
	if math.IsInf(s.bound, 1) {
		return fmt.Sprintf(
			"since %s the demand is %.6g, and history has no scale for it yet: it is served as it is, %s",
			clock(s.since),
			s.highest,
			until,
		)
	}
	return fmt.Sprintf("since %s the demand is %.6g, more than its history justifies: it is served as %.6g, %s",
		clock(s.since), s.highest, s.served, until)
}
