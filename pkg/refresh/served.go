package refresh

import (
	"cmp"
	"math"
	"slices"
	"strings"
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
func (w *worker) noteServed(e *snapshot.ForecastSnapshot, now time.Time) {
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

// spender is whose replica time is counted: a policy's, on a variant or on the only workload, by its name.
type spender struct{ policy, variant string }

// countHours adds the hours that have ended to the counters, and reports whether there are any. Those before the first result are history.
func (w *worker) countHours() bool {
	calibrator := w.forecaster.Calibrator()
	if calibrator == nil || calibrator.HourEnded().IsZero() {
		return false
	}
	if w.counted.IsZero() {
		w.counted = calibrator.HourEnded()
	}
	took := calibrator.SpentSince(w.counted)
	if w.spent != nil && took.Hours == 0 {
		return false
	}
	w.counted = w.counted.Add(time.Duration(took.Hours) * time.Hour)
	if w.spent == nil {
		w.spent = map[spender]float64{}
	}
	first := w.workloadName()
	for policy, hours := range map[string]float64{
		snapshot.PolicyServed: took.Served, snapshot.PolicyObserved: took.Observed, snapshot.PolicyBefore: took.Before,
		snapshot.PolicyHindsight: took.Hindsight,
	} {
		if policy == snapshot.PolicyServed && len(w.job.Variants) > 0 {
			continue
		}
		w.spent[spender{policy, first}] += hours
	}
	for i, hours := range w.forecaster.PaidByPart(took.Hours) {
		w.spent[spender{snapshot.PolicyServed, w.job.Variants[i].Name}] += hours
	}
	return true
}

// workloadName is that of the Forecast's target, which is also that of its first variant.
func (w *worker) workloadName() string {
	_, name, _ := strings.Cut(w.job.Workload, "/")
	return name
}

// spending is what has been counted, with the hours that have ended by now, in a fixed order. It is made again when there are any, and
// for a worker that has taken it over, whose prices may be others.
func (w *worker) spending() []snapshot.Usage {
	if !w.countHours() && w.spentNow != nil {
		return w.spentNow
	}
	prices := map[string]float64{w.workloadName(): w.job.Price}
	for i := range w.job.Variants {
		prices[w.job.Variants[i].Name] = w.job.Variants[i].Price
	}
	var out []snapshot.Usage
	for of, hours := range w.spent {
		out = append(out, snapshot.Usage{
			Policy: of.policy, Variant: of.variant, ReplicaHours: hours, Price: prices[of.variant],
		})
	}
	slices.SortFunc(out, func(a, b snapshot.Usage) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Variant, b.Variant))
	})
	w.spentNow = out
	return out
}
