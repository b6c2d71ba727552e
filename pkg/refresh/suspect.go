package refresh

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/classify"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// suspend marks the samples that are held back.
func (w *worker) suspend(e *snapshot.Entry) {
	w.found.suspect = nil
	held, lasts := w.forecaster.Waiting()
	if len(held) == 0 {
		return
	}
	s := suspect{
		since:  w.forecaster.End(),
		served: e.Observed,
		bound:  held[len(held)-1].Bound.Most,
		lasts:  lasts,
	}
	for _, h := range held {
		s.highest = math.Max(s.highest, h.Demand)
	}
	e.Repairs = append(e.Repairs, classify.Span{
		From: s.since, To: w.forecaster.Read(), Cause: classify.Suspect, Samples: len(held),
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
