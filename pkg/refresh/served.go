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

// servedValues has the values that were served. They are kept until the forecaster has processed the steps in which they were in force. The
// loop adds values while a refresh may be reading them.
type servedValues struct {
	mu     sync.Mutex
	values []servedValue
}

// servedValue is a value that is in force from a time until the next value.
type servedValue struct {
	from  time.Time
	value float64
}

// maxServedValues limits how many values are kept while a source has no samples.
const maxServedValues = 1 << 12

// note adds the value that is in force from a time on; NaN means that no value is served.
func (s *servedValues) note(from time.Time, value float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.values)
	for n > 0 && !s.values[n-1].from.Before(from) { // The clock was set back, or the step is the same.
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

// at returns the value that was in force at a time, if it is known.
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

// forget drops the values that were replaced before a time.
func (s *servedValues) forget(before time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	replaced := 0
	for replaced+1 < len(s.values) && !s.values[replaced+1].from.After(before) {
		replaced++
	}
	s.values = s.values[:copy(s.values, s.values[replaced:])]
}

// noteServed adds the value that an entry serves from a step on. In shadow mode, this is the value that it would serve.
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

// publish makes a forecaster record the served values. It takes over the record of the previous forecaster. It also takes over the hours in
// the status, which another replica or an earlier process has recorded.
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

// spender identifies a counter of replica time: a policy, and the name of a variant or of the only workload.
type spender struct{ policy, variant string }

// countHours adds the hours that have ended to the counters, and reports whether there were any. Hours before the first result belong to
// the history and are not counted.
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

// workloadName returns the name of the Forecast's target, which is also the name of its first variant.
func (w *worker) workloadName() string {
	_, name, _ := strings.Cut(w.job.Workload, "/")
	return name
}

// spending returns the counters, including the hours that have ended by now, in a fixed order. The result is rebuilt after new hours. A
// worker that has taken over the counters rebuilds it, too, because its prices may be different.
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
