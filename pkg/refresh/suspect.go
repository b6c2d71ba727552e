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
