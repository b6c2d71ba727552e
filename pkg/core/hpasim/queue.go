package hpasim

// queue is a fluid in front of the replicas that are ready, which serve what is there, oldest first. What arrives within
// a step arrives evenly. Its wait is the backlog before it over the capacity of that moment.
type queue struct {
	// backlog in replica-seconds.
	backlog float64
}

// flow is what became of the demand in one step, in replica-seconds. Late is a part of what arrived.
type flow struct {
	arrived, late, served, unserved float64
}

// pass lets one step go by. The demand is in replicas kept fully busy.
//
// Worked: 10 replicas with a backlog of 200 replica-seconds have a wait of 20 s. 30 replicas' worth arrives for 15 s, of
// which 15 s · 10 are served; the wait is 50 s at the end. Two thirds of the arrivals met a wait over 30 s.
//
// While no replica is ready nobody knows the wait, and all that arrives is late. As much may queue as for one.
func (q *queue) pass(k *kind, demand float64, ready int) flow {
	f := flow{arrived: demand * k.seconds}
	before := q.backlog
	capacity := float64(ready)
	q.backlog = max(before+f.arrived-capacity*k.seconds, 0)
	f.served = before + f.arrived - q.backlog
	switch {
	case ready == 0:
		f.late, f.served = f.arrived, 0
	case before > 0 || q.backlog > 0: // Else nothing waits.
		f.late = f.arrived * beyond(k.wait, before/capacity, q.backlog/capacity)
	}
	if most := k.patience * max(capacity, 1); q.backlog > most {
		f.unserved = q.backlog - most
		q.backlog = most
	}
	return f
}

// beyond is the share of the line from one wait to another that lies over a limit.
func beyond(limit, from, to float64) float64 {
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
