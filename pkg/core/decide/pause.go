package decide

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Pause serves the observed demand instead of the forecast. The demand is multiplied by Capacity/Target, so that the autoscaler runs as
// many replicas as the previous HPA would. The zero Pause changes nothing.
type Pause struct {
	// Capacity is the demand that a replica sustains, and Target is the target of the previous HPA. If one of them is unknown, only
	// their ratio is meaningful. Both are above 0 while paused.
	Capacity, Target float64
	// Least is the lowest value, which corresponds to minReplicas of the previous HPA; 0 for none.
	Least float64
	// Hold is how long a higher demand still counts: the difference between the scale-down stabilization of the previous HPA and that
	// of the autoscaler.
	Hold time.Duration
	// Source is where the ratio comes from. Assumed says why the ratio may be too high, and what to set to make it exact; empty if it
	// is exact.
	Source, Assumed string
	// Invalid says why the annotation does not pause the Forecast; empty if there is no such problem.
	Invalid string
}

// Active reports whether the observed demand is served.
func (p Pause) Active() bool { return p.Target > 0 }

// Message says what is served and why. It does not change during the pause.
func (p Pause) Message() string {
	if p.Invalid != "" {
		return p.Invalid
	}
	ratio := humanize.Significant(p.Capacity/p.Target, 3)
	text := fmt.Sprintf("Forewarm serves the observed demand × %s: %s", ratio, p.Source)
	if p.Least > 0 {
		text += fmt.Sprintf("; at least %s, which keeps minReplicas of the previous HPA", humanize.Number(p.Least))
	}
	if p.Assumed != "" {
		text += "; " + p.Assumed
	}
	return text
}

// Apply replaces the value of a decision; highest is the highest observed demand within the Hold.
//
// Example: 100 are observed, a replica sustains 64, and the previous HPA's target was 45. The value is 100·64/45 = 142.2, which gives
// three replicas. The previous HPA would run three replicas, too, because 100/45 is 2.2.
func (p Pause) Apply(d Decision, highest float64) Decision {
	if !d.Shadow {
		d.WouldServe = d.Value
	}
	d.Pause, d.Shadow = p, true
	d.Value = math.Max(highest*p.Capacity/p.Target, p.Least)
	if d.Zero.Applies { // The previous HPA did not scale to zero.
		d.Zero.Paused, d.Value = d.Value, math.Max(d.Value, minAwake)
	}
	return d
}
