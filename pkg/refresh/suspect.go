package refresh

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// recordSuspect records the samples that are not believed yet.
func (w *worker) recordSuspect(e *snapshot.ForecastState) {
	w.result.suspect = nil
	held, lasts := w.forecaster.Suspects()
	if len(held) == 0 {
		return
	}
	s := suspect{
		since: w.forecaster.End(), served: e.Observed, bound: held[len(held)-1].Bound.MaxObserved, lasts: lasts,
	}
	for _, h := range held {
		s.highest = math.Max(s.highest, h.Demand)
	}
	e.Classifications = append(e.Classifications, demand.Span{
		From: s.since, To: w.forecaster.ReadUntil(), Cause: demand.Suspect, Samples: len(held),
	})
	w.result.suspect = &s
}

// suspect is a demand far above everything in its history, which may be a measurement error.
type suspect struct {
	since          time.Time
	highest, bound float64
	served         float64
	lasts          time.Duration
}

// String reports the observed demand, the value served instead, and when it is believed.
func (s *suspect) String() string {
	until := fmt.Sprintf("models ignore it unless it lasts until %s or occurs again",
		formatTime(s.since.Add(s.lasts)))
	if math.IsInf(s.bound, 1) {
		return fmt.Sprintf("since %s the demand is %.6g, and there is no history to judge it by: it is served as "+
			"observed, %s", formatTime(s.since), s.highest, until)
	}
	return fmt.Sprintf("since %s the demand is %.6g, more than its history justifies: it is served as %.6g, %s",
		formatTime(s.since), s.highest, s.served, until)
}

// recordSuddenLow records the sudden lows that are doubted. One that is followed is most likely the demand, and needs no attention.
func (w *worker) recordSuddenLow(e *snapshot.ForecastState) {
	w.result.suddenLow = nil
	lows, doubted := w.forecaster.Fallen()
	if !doubted {
		return
	}
	until := w.forecaster.ReadUntil()
	s := suddenLow{since: until.Add(-time.Duration(len(lows)) * w.job.Step), lowest: math.Inf(1)}
	for _, low := range lows {
		if low.Demand < s.lowest { // NaN is not.
			s.lowest = low.Demand
		}
	}
	e.Classifications = append(
		e.Classifications,
		demand.Span{From: s.since, To: until, Cause: demand.Dip, Samples: len(lows)},
	)
	w.result.suddenLow = &s
}

// suddenLow is a demand that has fallen suddenly, which may be a part of the total.
type suddenLow struct {
	since  time.Time
	lowest float64
}

// String reports the fall, what is served, and until when nothing is learnt of it.
func (s *suddenLow) String() string {
	return fmt.Sprintf(
		"since %s the demand is suddenly as low as %.6g, which may be a part of the total: the value before it is "+
			"served until %s, and models ignore it unless it lasts until %s",
		formatTime(s.since),
		s.lowest,
		formatTime(s.since.Add(demand.FallDoubt)),
		formatTime(s.since.Add(demand.FallLearnt)),
	)
}
