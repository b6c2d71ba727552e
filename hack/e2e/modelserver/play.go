package modelserver

import "time"

// Arrival is a request of a load.
type Arrival struct {
	At             time.Duration
	Prompt, Output int
}

// Played is what a load met on replicas that were played without a clock.
type Played struct {
	// InFlight is the requests that run and wait on all replicas, at the end of each interval.
	InFlight []float64
	// FirstToken is the time to the first token of each arrival.
	FirstToken []time.Duration
}

// Play plays a load to replicas that take turns, as many as ready returns at a time: those after the last one finish what they have.
func Play(c Config, load []Arrival, length, interval time.Duration, ready func(time.Duration) int) Played {
	out := Played{FirstToken: make([]time.Duration, len(load))}
	var engines []*Engine
	var ends []time.Duration // Of the step in progress; 0: idle.
	next, turn := 0, 0
	var now time.Duration                         // The callbacks read it, too.
	for ; now < length; now += time.Millisecond { // Short beside a step.
		for ; next < len(load) && load[next].At <= now; next++ {
			for n := max(ready(now), 1); len(engines) < n; {
				engines, ends = append(engines, New(c)), append(ends, 0)
			}
			a, first := load[next], &out.FirstToken[next]
			*first = length // Until it has one.
			engines[turn%max(ready(now), 1)].Add(&Request{Prompt: a.Prompt, Output: a.Output, First: func() { *first = now - a.At }})
			turn++
		}
		for i, e := range engines {
			if ends[i] > now {
				continue
			}
			if ends[i] > 0 {
				e.End()
			}
			if ends[i] = 0; e.Running()+e.Waiting() > 0 {
				ends[i] = now + e.Begin()
			}
		}
		if (now+time.Millisecond)%interval == 0 {
			sum := 0
			for _, e := range engines {
				sum += e.Running() + e.Waiting()
			}
			out.InFlight = append(out.InFlight, float64(sum))
		}
	}
	return out
}
