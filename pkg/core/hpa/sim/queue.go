package sim

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
