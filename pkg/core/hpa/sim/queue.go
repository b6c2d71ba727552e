package sim

import (
	"math"
	"time"
)

// queue is a fluid queue in front of the ready replicas, which serve in order of arrival. Arrivals are spread evenly
// over a step. The wait is the backlog over the current capacity.
type queue struct {
	// backlog in replica-seconds.
	backlog float64
}

// flow is what happens to the demand in one step, in replica-seconds. Late is a part of the arrivals.
type flow struct {
	arrived, late, served, dropped float64
	deferrable                     outcome
}

// step simulates one step. The capacity is in ready replicas.
//
// Worked: 10 replicas with a backlog of 200 replica-seconds have a wait of 20 s. Demand of 30 replicas arrives for 15
// s, of which 15 s · 10 are served; the wait is 50 s at the end. Two thirds of the arrivals wait longer than 30 s.
//
// While no replica is ready, the wait is unknown and all arrivals are late. The queue is then limited as for one
// replica.
func (q *queue) step(k *settings, demand arrival, capacity float64) flow {
	f := flow{arrived: demand.seconds}
	before := q.backlog
	q.backlog = max(before+f.arrived-capacity*k.stepSeconds, 0)
	f.served = before + f.arrived - q.backlog
	switch {
	case capacity == 0:
		f.late, f.served = f.arrived, 0
	case before > 0 || q.backlog > 0: // Else nothing waits.
		f.late = f.arrived * shareAbove(k.wait, before/capacity, q.backlog/capacity)
	}
	if most := k.timeout * max(capacity, 1); q.backlog > most {
		f.dropped = q.backlog - most
		q.backlog = most
	}
	return f
}

// shareAbove returns the share of the line from one wait to another that lies above a limit.
func shareAbove(limit, from, to float64) float64 {
	low, high := min(from, to), max(from, to)
	switch {
	case low >= limit:
		if high > limit {
			return 1
		}
		return 0
	case high <= limit:
		return 0
	default:
		return (high - limit) / (high - low)
	}
}

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

// DeadlineFloor is the value to ask for, in the unit of the demand, so that no work misses its deadline: 0 where what the demand leaves will do.
// Expected is the demand to come, asked the value for it: replicas beyond that may go at any time. What is asked for now is ready after a
// lead time of so many steps. It is at most what the HPA's maximum does.
func (w *Workload) DeadlineFloor(expected, asked float64, lead int) float64 {
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

// BadShare is the share of an hour's demand that may be late before the hour is bad.
const BadShare = 0.1

// IsBadHour reports whether more than a tenth of an hour's demand was late: an hour in which users noticed.
func IsBadHour(arrived, late float64) bool { return late > BadShare*arrived }

// HourOf returns the start of the clock hour, in UTC, of a step that ends at a time.
func HourOf(end time.Time) time.Time { return end.Add(-1).Truncate(time.Hour) }

// EndsHour reports whether the step that ends at a time is the last one of its clock hour.
func EndsHour(end time.Time, step time.Duration) bool {
	return !HourOf(end.Add(step)).Equal(HourOf(end))
}

// BadHours sums the demand that arrived in bad hours. Hours are clock hours in UTC, and a step belongs to the hour in which it ends. An
// hour of which a part is missing is not judged.
type BadHours struct {
	// Arrived is the demand of the hours that were judged, and Bad the demand of the bad ones, in one unit.
	Arrived, Bad float64
	// Hours is how many were judged, and Count how many of them were bad.
	Hours, Count int
	// List has the bad hours, oldest first.
	List []BadHour

	open openHour
}

// BadHour is one bad hour.
type BadHour struct {
	// Start of the clock hour, in UTC.
	Start time.Time
	// Arrived is its demand, and Late what was late of it.
	Arrived, Late float64
}

// openHour is the hour that has not ended.
type openHour struct {
	start         time.Time
	arrived, late float64
	known         time.Duration
}

// Add adds a step that ended at a time. A step whose demand is not known is left out.
func (b *BadHours) Add(end time.Time, step time.Duration, arrived, late float64) {
	if start := HourOf(end); !start.Equal(b.open.start) {
		b.open = openHour{start: start}
	}
	b.open.arrived += arrived
	b.open.late += late
	b.open.known += step
	if !EndsHour(end, step) {
		return
	}
	if b.open.known+step > time.Hour { // All steps that end in the hour are known.
		b.Hours++
		b.Arrived += b.open.arrived
		if IsBadHour(b.open.arrived, b.open.late) {
			b.Bad += b.open.arrived
			b.Count++
			b.List = append(b.List, BadHour{b.open.start, b.open.arrived, b.open.late})
		}
	}
}

// Share is the share of the demand that arrived in bad hours; 0 without demand.
func (b *BadHours) Share() float64 {
	if !(b.Arrived > 0) {
		return 0
	}
	return b.Bad / b.Arrived
}

// Merge adds the sums of another simulation. Its bad hours are counted but not listed.
func (b *BadHours) Merge(other *BadHours) {
	b.Arrived += other.Arrived
	b.Bad += other.Bad
	b.Hours += other.Hours
	b.Count += other.Count
}
