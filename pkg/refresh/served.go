package refresh

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// servedValues are the values that were served, until the forecaster has played the steps in which they were in force. The loop notes
// them while a refresh may read them.
type servedValues struct {
	mu     sync.Mutex
	values []servedValue
}

// servedValue is in force from a time on, until the next one is.
type servedValue struct {
	from  time.Time
	value float64
}

// maxServedValues bounds what is kept while a source has no samples.
const maxServedValues = 1 << 12

// note notes the value that is in force from a time on; NaN for none.
func (s *servedValues) note(from time.Time, value float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.values)
	for n > 0 && !s.values[n-1].from.Before(from) { // The clock was set back, or it is the same step.
		n--
	}
	s.values = s.values[:n]
	if n > 0 && math.Float64bits(s.values[n-1].value) == math.Float64bits(value) {
		return
	}
	if n == maxServedValues {
		s.values = s.values[:copy(s.values, s.values[n/2:])]
	}
	s.values = append(s.values, servedValue{from, value})
}

// at is the value that was in force at a time, if it is known.
func (s *servedValues) at(at time.Time) (value float64, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range slices.Backward(s.values) {
		if !v.from.After(at) {
			return v.value, true
		}
	}
	return 0, false
}

// forget forgets the values that were replaced before a time.
func (s *servedValues) forget(before time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	replaced := 0
	for replaced+1 < len(s.values) && !s.values[replaced+1].from.After(before) {
		replaced++
	}
	s.values = s.values[:copy(s.values, s.values[replaced:])]
}

// noteServed notes what an entry serves from a step on: in shadow mode what it would serve.
func (w *worker) noteServed(e *snapshot.ForecastState, now time.Time) {
	value := math.NaN()
	if e.State.Serves() {
		value = e.Decision.Value
		if e.Settings.Mode == decide.Shadow && !e.Decision.Pause.Active() {
			value = e.Decision.WouldServe
		}
	}
	w.served.note(align(now, w.job.Step), value)
}

// publish makes a forecaster record what is served. It takes over the record of the forecaster before it, and the hours in the status,
// which another replica or an earlier process has served.
func (w *worker) publish(f *forecaster.Forecaster) {
	calibrator := f.Calibrator()
	if w.partial || calibrator == nil {
		return
	}
	calibrator.Adopt(w.recorder)
	calibrator.Publish(w.served.at)
	calibrator.Restore(w.job.Record)
	if w.settled == nil || f == w.settled {
		w.recorder = calibrator
		w.served.forget(f.End().Add(-w.job.Step))
	}
}
