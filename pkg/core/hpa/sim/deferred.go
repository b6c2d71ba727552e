package sim

import "math"

// deferred is the work that may wait until a deadline, and gets what the demand leaves of the ready replicas: the earliest deadline first.
// The zero value has none.
type deferred struct {
	// waiting is what waits, in replica-seconds, by the step of its arrival, modulo the steps until the deadline: that of the steps from
	// oldest to before next.
	waiting      []float64
	oldest, next int
	// arriving is the work of the current step, mean that of a step in the last deadline, both in replica-seconds.
	arriving, mean float64
}

func newDeferred(k *settings) deferred { return deferred{waiting: make([]float64, k.deadlineSteps)} }

// outcome is what happens to deferrable work in one step, in replica-seconds. Missed work is not done any more.
type outcome struct {
	arrived, missed float64
}

// step takes the work that arrives, and does as much as left replica-seconds allow.
func (d *deferred) step(now int, left float64) outcome {
	n := len(d.waiting)
	if n == 0 {
		return outcome{}
	}
	out := outcome{arrived: d.arriving}
	at := &d.waiting[now%n]
	out.missed, *at = *at, d.arriving
	d.next = now + 1
	d.mean += (d.arriving - d.mean) / float64(min(d.next, n))
	d.oldest = max(d.oldest, now-n+1)
	for ; d.oldest <= now; d.oldest++ {
		at := &d.waiting[d.oldest%n]
		done := math.Min(*at, left)
		*at, left = *at-done, left-done
		if *at > 0 {
			break
		}
	}
	return out
}

// total is all that waits.
func (d *deferred) total() (sum float64) {
	for arrival := d.oldest; arrival < d.next; arrival++ {
		sum += d.waiting[arrival%len(d.waiting)]
	}
	return sum
}

// needed is how many replicas must be there for this work alone, once a lead time of so many steps is over, so that none misses its
// deadline: the least constant number. Within the lead time spare replica-seconds are left for it. What is due in the half of a lead time
// after that is spread over it: a moment's shortage must not ask for many replicas.
func (d *deferred) needed(lead int, spare, stepSeconds float64) float64 {
	n := len(d.waiting)
	due, most := -spare, 0.0
	for arrival := d.oldest; arrival < d.next+lead; arrival++ {
		if arrival < d.next {
			due += d.waiting[arrival%n]
		} else {
			due += d.mean
		}
		if after := arrival + n - d.next - lead; after > 0 && due > 0 {
			most = math.Max(most, due/(float64(max(after, lead/2, 1))*stepSeconds))
		}
	}
	return most
}

// Defer sets the work, in the unit of the demand, that arrives from now on and may wait until the Deadline; NaN for none.
func (w *Workload) Defer(arrived float64) {
	w.deferred.arriving = 0
	if arrived > 0 {
		w.deferred.arriving = arrived / w.settings.capacity * w.settings.stepSeconds
	}
}

// Needed is the value to ask for, in the unit of the demand, so that no work misses its deadline: 0 where what the demand leaves will do.
// Expected is the demand to come, asked the value for it: replicas beyond that may go at any time. What is asked for now is ready after a
// lead time of so many steps. It is at most what the HPA's maximum does.
func (w *Workload) Needed(expected, asked float64, lead int) float64 {
	if w.deferred.mean == 0 {
		return 0
	}
	k := w.settings
	ready, stays := w.cluster.ready, math.Ceil(asked/k.capacity)
	busy, spare := expected/k.capacity, -w.queue.backlog
	for step := w.step; step < w.step+lead; step++ {
		ready += w.cluster.starting.at(step)
		spare += math.Max(math.Min(float64(ready), stays)-busy, 0) * k.stepSeconds
	}
	if more := w.deferred.needed(lead, math.Max(spare, 0), k.stepSeconds); more > 0 {
		return math.Min(busy+more, float64(k.maxReplicas)) * k.capacity
	}
	return 0
}
