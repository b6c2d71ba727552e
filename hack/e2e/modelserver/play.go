package modelserver

import "time"

// Arrival is a request of a load.
type Arrival struct {
	At             time.Duration
	Prompt, Output int
}

// Work is how long a replica with a full batch needs for a request.
func (c Config) Work(a Arrival) time.Duration {
	perOutput := c.Step/time.Duration(c.Sequences) + c.PerSequence
	return time.Duration(a.Prompt)*c.PerToken + time.Duration(a.Output)*perOutput
}

// Play plays a load to replicas that take turns, as many as ready returns at a time, and returns the requests in flight on all of
// them at the end of each interval. There is no clock.
func Play(
	c Config, load []Arrival, length, interval time.Duration, ready func(time.Duration) int,
) (inFlight []float64) {
	var replicas []*playing
	turn := 0
	for now := time.Duration(0); now < length; now += time.Millisecond { // Short compared with a step.
		for ; turn < len(load) && load[turn].At <= now; turn++ {
			n := ready(now)
			for len(replicas) < n {
				replicas = append(replicas, &playing{Engine: New(c)})
			}
			replicas[turn%n].Add(&Request{Prompt: load[turn].Prompt, Output: load[turn].Output})
		}
		sum := 0
		for _, r := range replicas {
			r.advance(now)
			sum += r.Running() + r.Waiting()
		}
		if (now+time.Millisecond)%interval == 0 {
			inFlight = append(inFlight, float64(sum))
		}
	}
	return inFlight
}

// playing is an engine and when its step ends, 0 while it is idle.
type playing struct {
	*Engine

	ends time.Duration
}

func (p *playing) advance(now time.Duration) {
	if p.ends > now {
		return
	}
	if p.ends > 0 {
		p.End()
	}
	p.ends = 0
	if step := p.Begin(); step > 0 {
		p.ends = now + step
	}
}
