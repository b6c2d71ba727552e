package decide

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Pause serves the observed demand in place of the forecast, as many times larger as a replica sustains more than the target of the
// HPA before: the autoscaler then has the replicas of that HPA. The zero Pause changes nothing.
type Pause struct {
	// Capacity is the demand that a replica sustains, and Target that of the HPA before. Where one of them is not known only their
	// ratio counts. Above 0 while paused.
	Capacity, Target float64
	// Least is the least value, that of minReplicas before; 0 for none.
	Least float64
	// Hold is how long a higher demand counts: what the scale-down stabilization of the HPA before has more than the autoscaler's.
	Hold time.Duration
	// Source is where the ratio comes from. Assumed is why it may be too high, and what to write to make it exact; empty where it is
	// exact.
	Source, Assumed string
	// Invalid is why there is no pause though one may be meant; empty otherwise.
	Invalid string
}

// Active reports whether the observed demand is served.
func (p Pause) Active() bool { return p.Target > 0 }

// Message is what is served, and why, in a sentence that holds as long as the pause.
func (p Pause) Message() string {
	if p.Invalid != "" {
		return p.Invalid
	}
	ratio := humanize.Significant(p.Capacity/p.Target, 3)
	text := fmt.Sprintf("the observed demand × %s is served: %s", ratio, p.Source)
	if p.Least > 0 {
		text += fmt.Sprintf("; at least %s, for minReplicas before", humanize.Number(p.Least))
	}
	if p.Assumed != "" {
		text += "; " + p.Assumed
	}
	return text
}

// Apply replaces the value of a decision; highest is the highest observed demand within the Hold.
//
// Example: 100 observed, a replica sustains 64, the target before is 45: 100·64/45 = 142.2, three replicas, as 100/45 are.
func (p Pause) Apply(d Decision, highest float64) Decision {
	if !d.Shadow {
		d.WouldServe = d.Value
	}
	d.Pause, d.Shadow = p, true
	d.Value = math.Max(highest*p.Capacity/p.Target, p.Least)
	return d
}
