package objective

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

const (
	// The lateness measured and the simulated one differ once one of them, over the last day, has been differs times the other for so
	// many hours: what lasts half a day or less passes. They agree again below agrees times. What is below the objective does not
	// differ: the smaller counts as a third of it at least.
	differs, agrees = 3, 2
	// Hours. A day is also the half-life of the busiest hour, and how long a workload is unknown.
	day, stands = 24, 36
	// knownHours of a day must be known.
	knownHours = 6
	// smallFactor is the logarithm of a factor that explains nothing.
	smallFactor = 0.05
)

// Measured is the lateness that users saw, as a query measures it. Nothing that is served depends on it.
type Measured struct {
	// Late is the share of the requests that were late over the budget's period, by demand.
	Late float64
	// Known is how much of the period it is about.
	Known time.Duration
	// Difference from the simulated lateness; nil while they agree.
	Difference *Difference
}

// Difference is what differs for a day or more.
type Difference struct {
	// Simulated and Measured are the lateness of the last 24 hours.
	Simulated, Measured float64
	// Target is what a replica is said to sustain. Explains is what it would sustain if the measured lateness were right, by what was
	// late with other targets; 0 where they do not tell.
	Target, Explains float64
}

// Message is what differs, and which assumption is probably wrong.
func (d *Difference) Message(wait time.Duration) string {
	text := fmt.Sprintf("over the last day, %s of the requests waited longer than %s according to "+
		"objective.measured, but %s did in the simulation; ", humanize.LateShare(d.Measured), humanize.Span(wait),
		humanize.LateShare(d.Simulated))
	amount, others := "less", "whether the query measures more than the objective's wait, such as the whole response time, and "+
		"whether pods take longer to start than the lead time"
	if d.Measured < d.Simulated {
		amount, others = "more", "and whether the query misses requests, such as requests that a gateway holds"
	}
	target := fmt.Sprintf("a replica sustains %s than the target of %s (to estimate what it sustains, run "+
		"forewarm capacity)", amount, humanize.Number(d.Target))
	if d.Explains > 0 {
		text += fmt.Sprintf("probably, %s; a capacity of about %s per replica would explain the difference", target,
			humanize.Significant(d.Explains, 2))
	} else {
		text += fmt.Sprintf("check whether %s, whether the signal is the total demand, %s", target, others)
	}
	return text + "; the difference does not change what Forewarm serves"
}

// compared is the demand of so many known hours, and what of it was late in the simulation and as measured, in replica-hours.
type compared struct {
	arrived, simulated, measured float64
	known                        int
}

// comparedHours are the hours of the budget's period, oldest first.
func (o *Calibrator) comparedHours(late lateShare, shadow bool) []compared {
	l := &o.published.hours
	out := make([]compared, o.compared())
	end := l.end
	for ago := range out {
		arrived, simulated := l.ring.Ref(ago).arrived, l.ring.Ref(ago).late
		if shadow { // The autoscaler reads the observed demand.
			simulated = float64(o.rivals.hours.Ref(ago).late[rivalCount-1])
		}
		if share, known := late(end.Add(-time.Hour), end); arrived > 0 && known > 0 {
			out[len(out)-1-ago] = compared{arrived, simulated, share * arrived, 1}
		}
		end = end.Add(-time.Hour)
	}
	return out
}

func sumOf(hours []compared) (out compared) {
	for _, h := range hours {
		out.arrived, out.simulated, out.measured = out.arrived+h.arrived, out.simulated+h.simulated, out.measured+h.measured
		out.known += h.known
	}
	return out
}

// larger is 1 if the measured lateness is so many times the simulated one or more, −1 if it is the other way round, else 0. Shares
// below least count as it.
func (d compared) larger(times, least float64) int {
	least *= d.arrived
	switch {
	case d.known < knownHours:
		return 0
	case d.measured >= times*math.Max(d.simulated, least):
		return 1
	case d.simulated >= times*math.Max(d.measured, least):
		return -1
	}
	return 0
}

// lateShare is the share of the demand after a time, up to another, that was measured to be late, and of how much time it is known.
type lateShare func(after, to time.Time) (share float64, known time.Duration)

// Difference compares the measured lateness with the simulated one: of the served value, in shadow mode of the observed demand. It is
// nil while they agree, and follows from the hours of the budget's period alone.
func (o *Calibrator) Difference(late lateShare, shadow bool) *Difference {
	least := o.goals[0].goal.Late / differs
	hours := o.comparedHours(late, shadow)
	var last compared
	larger, differing, since := 0, 0, 0
	for i := range hours {
		last = sumOf(hours[max(0, i+1-day) : i+1])
		if now := last.larger(differs, least); now != larger {
			larger, since = now, i
		}
		if larger != 0 && i-since >= stands {
			differing = larger
		}
		if last.larger(agrees, least) != differing {
			differing = 0
		}
	}
	if differing == 0 {
		return nil
	}
	out := &Difference{
		Simulated: last.simulated / last.arrived, Measured: last.measured / last.arrived,
		Target: o.config.Autoscalers[0].Spec.Capacity,
	}
	lines := o.rivals.linesOf(hours, last.arrived)
	factor := shareAt(lines, math.Max(out.Measured, least)) / shareAt(lines, math.Max(out.Simulated, least))
	if math.Abs(math.Log(factor)) > smallFactor { // NaN is not.
		out.Explains = out.Target / factor
	}
	return out
}

// line is what was late with a target, both as shares.
type line struct{ target, late float64 }

// linesOf are those of the targetShares over the newest of the hours that are known, where more was late than with the one before.
func (r *rivals) linesOf(hours []compared, arrived float64) (out []line) {
	for i, share := range r.shares[1:] {
		late := 0.0
		for ago := range min(day, len(hours)) {
			if hours[len(hours)-1-ago].arrived > 0 {
				late += float64(r.hours.Ref(ago).late[1+i])
			}
		}
		if one := (line{share, late / arrived}); late > 0 && (len(out) == 0 || one.late > out[len(out)-1].late) {
			out = append(out, one)
		}
	}
	return out
}

// shareAt is the target at which so much is late, on the straight lines between the logarithms, at least the lowest target. It is NaN
// above the highest, where an autoscaler falls behind without end, and without two targets.
func shareAt(lines []line, late float64) float64 {
	const rounding = 1e-6
	if n := len(lines); n < 2 || late > lines[n-1].late*(1+rounding) {
		return math.NaN()
	}
	i := 1
	for i < len(lines)-1 && lines[i].late < late {
		i++
	}
	low, high := lines[i-1], lines[i]
	part := math.Log(late/low.late) / math.Log(high.late/low.late)
	return low.target * math.Pow(high.target/low.target, math.Max(part, 0))
}
