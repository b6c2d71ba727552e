package capacity

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Verdict says how reliable an Estimate is. The words are stable, so scripts may rely on them.
type Verdict string

const (
	// Known: the load at which the service reaches its limit is known.
	Known Verdict = "Known"
	// Gradual: the service does not reach its limit at one particular load. The advised target is the load at which the queue
	// begins to grow.
	Gradual Verdict = "Gradual"
	// Vague: the interval is wide, so the value is a first guess.
	Vague Verdict = "Vague"
	// Seldom: the service hardly ever reached its limit. Only the load that it carried is known.
	Seldom Verdict = "Seldom"
	// Always: the service was hardly ever below its limit.
	Always Verdict = "Always"
	// Unrelated: the load of a replica does not explain when the service reaches its limit.
	Unrelated Verdict = "Unrelated"
	// Empty: demand, ready replicas and saturation were never known at the same time.
	Empty Verdict = "Empty"
)

// Estimate is what a replica sustains. Loads are the demand for each ready replica, in the signal's unit, NaN where they
// cannot be told.
type Estimate struct {
	Verdict Verdict
	// Value is the load at which the service comes to its limit, Low and High its 90 % interval.
	Value, Low, High float64
	// Edge and Full are where it comes to its limit a tenth, and nine tenths, as often as it does at all.
	Edge, Full float64
	// Carried is the highest load at which nothing waited for half an hour in all.
	Carried float64
	// Plateaus is true if the signal stops at the capacity; Value is then the median at the limit.
	Plateaus bool
	Evidence Evidence
	// Bands are the moments by their load, in ascending order.
	Bands []Band
}

// Evidence is what an estimate rests on.
type Evidence struct {
	// Known is how long the load was known, Calm how long nothing waited, Growing how long the queue grew. For the rest it
	// drained, or was there for a moment only.
	Known, Calm, Growing time.Duration
	// Episodes is how often the service reached its limit, half an hour or more after the last time.
	Episodes int
	// Above and Below are the shares of the time in which the queue grew, at loads above the value and below it; NaN where no
	// value was looked for.
	Above, Below float64
}

// Minimum requirements for an estimate.
const (
	fewestEpisodes = 3
	fewestGrowing  = 5
	minCalm        = time.Hour
	pause          = 30 * time.Minute
	carriedFor     = 30 * time.Minute
	// minAbove is the minimum share of moments above the threshold in which the queue grows, and maxBelow is the maximum share below it.
	// Otherwise the load does not explain the queue.
	minAbove, maxBelow = 0.5, 0.25
	// gradual is the edge, as a share of the value, below which there is no single load. vague is the width of an interval that is too wide.
	gradual, vague = 0.75, 1.6
)

// FromHistory estimates the capacity from a history. The same history gives the same Estimate to the last bit. Errors
// are about the history's shape; too little evidence is a verdict.
func FromHistory(h History) (Estimate, error) {
	if err := h.Validate(); err != nil {
		return Estimate{}, fmt.Errorf("capacity: %w", err)
	}
	moments := h.moments()
	nan := math.NaN()
	e := Estimate{Value: nan, Low: nan, High: nan, Edge: nan, Full: nan, Carried: nan}
	carried := slices.Sorted(slices.Values(loads(moments, isCalm)))
	grew := len(loads(moments, isGrowing))
	e.Evidence = Evidence{
		Known: h.Step * time.Duration(len(moments)), Calm: h.Step * time.Duration(len(carried)),
		Growing: h.Step * time.Duration(grew), Episodes: episodes(moments, 0, h.pause()), Above: nan, Below: nan,
	}
	if n := int((carriedFor + h.Step - 1) / h.Step); len(carried) >= n {
		e.Carried = carried[len(carried)-n]
	}
	if e.Verdict = e.insufficient(grew, carried); e.Verdict == "" {
		e.estimate(h, moments, carried)
	}
	e.Bands = bands(moments, h.Step, e.middle())
	return e, nil
}

func (h History) pause() int { return int(pause / h.Step) }

// insufficient returns the verdict for a history that does not allow an estimate; "" if it does.
func (e *Estimate) insufficient(grew int, carried []float64) Verdict {
	switch {
	case e.Evidence.Known == 0:
		return Empty
	case e.Evidence.Calm < minCalm && grew > 0:
		return Always
	case e.Evidence.Episodes < fewestEpisodes || grew < fewestGrowing:
		return Seldom
	case carried[len(carried)-1] == 0:
		return Unrelated
	}
	return ""
}

// estimate sets the value and its interval, and judges them.
func (e *Estimate) estimate(h History, moments []moment, carried []float64) {
	s := scaleFor(carried)
	seen := count(s, moments)
	fitted := fit(s, seen)
	e.Evidence.Above, e.Evidence.Below = seen.share(s, fitted.threshold)
	e.Plateaus = plateaus(moments)
	switch often := episodes(moments, math.Exp(fitted.threshold), h.pause()); {
	case e.Plateaus:
		e.estimatePlateau(h.blocks(moments), moments)
	case !(e.Evidence.Above >= minAbove) || !(e.Evidence.Below <= maxBelow):
		e.Verdict = Unrelated
		return
	case often < fewestEpisodes:
		e.Verdict = Seldom
		return
	default:
		e.estimateThreshold(s, h.blocks(moments), fitted)
	}
	switch {
	case e.High > vague*e.Low:
		e.Verdict = Vague
	case e.Edge < gradual*e.Value:
		e.Verdict = Gradual
	default:
		e.Verdict = Known
	}
}

// estimatePlateau estimates from a signal that plateaus.
func (e *Estimate) estimatePlateau(blocks [][]moment, moments []moment) {
	limit := slices.Sorted(slices.Values(loads(moments, atLimit)))
	e.Value = quantile(limit, 0.5)
	e.Low, e.High = medianInterval(blocks)
	e.Edge, e.Full = quantile(limit, 0.1), quantile(limit, 0.9)
}

// estimateThreshold estimates from the load at which the queue begins to grow.
func (e *Estimate) estimateThreshold(s scale, blocks [][]moment, fitted curve) {
	low, high := thresholdInterval(s, blocks, fitted)
	e.Value, e.Low, e.High = math.Exp(fitted.threshold), math.Exp(low), math.Exp(high)
	nines := math.Log(9) * fitted.spread // A logistic curve has a tenth of its height this far below its middle.
	e.Edge, e.Full = math.Exp(fitted.threshold-nines), math.Exp(fitted.threshold+nines)
}

// Target is the value to set as an autoscaler's AverageValue target, NaN if there is no advice. It is the lower end of the
// interval, because a target that is 5 % too low costs 5 % more replicas, but with a target that is 5 % too high a queue grows
// whenever all replicas are needed.
func (e *Estimate) Target() float64 {
	switch e.Verdict {
	case Known, Vague:
		return e.Low
	case Gradual:
		return e.Edge
	default:
		return math.NaN()
	}
}

// middle returns the load around which the bands are shown: the value or, if there is none, the load that was carried.
func (e *Estimate) middle() float64 {
	if math.IsNaN(e.Value) {
		return e.Carried
	}
	return e.Value
}

// Sentences say what is known, what the evidence is and what to do. The unit, such as "requests", follows the figures. It may be
// empty.
func (e *Estimate) Sentences(unit string) string {
	if unit != "" {
		unit = " " + unit
	}
	ev := e.Evidence
	rests := timesAtLimit(ev.Episodes) + " in " + formatHours(ev.Known) + "."
	carried := ""
	if e.Carried > 0 {
		carried = fmt.Sprintf(" A replica carried up to %s%s while nothing waited, so it sustains at least that.",
			formatLoad(e.Carried), unit)
	}
	switch e.Verdict {
	case Known:
		return fmt.Sprintf("A replica sustains about %s%s (%s to %s). %s%s",
			formatLoad(e.Value), unit, formatLoad(e.Low), formatLoad(e.High), rests, e.stops())
	case Vague:
		return fmt.Sprintf("A replica sustains between %s and %s%s. The best estimate is %s. %s%s", formatLoad(e.Low),
			formatLoad(e.High), unit, formatLoad(e.Value), rests, e.stops())
	case Gradual:
		return fmt.Sprintf(
			"A replica has no single limit. Its queue sometimes grows at %s%s or more, and nearly always at %s or more. %s "+
				"The cost of requests may vary. A signal that measures the cost (tokens instead of requests) may have a clearer "+
				"limit.",
			formatLoad(e.Edge),
			unit,
			formatLoad(e.Full),
			rests,
		)
	case Seldom:
		return fmt.Sprintf(
			"Not enough evidence. %s%s Load one replica until its queue grows, or try again after a busy week.", rests,
			carried,
		)
	case Always:
		return fmt.Sprintf(
			"Not enough evidence. Requests waited nearly all the time, so the history does not show the capacity of a replica. "+
				"Add replicas, or check the saturation query, which must be 0 when the workload is idle.%s",
			carried,
		)
	case Unrelated:
		return fmt.Sprintf(
			"No estimate. %s The load of a replica does not explain when this happened. Either something else limits the "+
				"service, or the queries select different workloads.",
			rests,
		)
	default:
		return "Not enough evidence. Demand, ready replicas and saturation were never known at the same time. Check the " +
			"queries."
	}
}

// stops explains the effect of a plateau on a forecast.
func (e *Estimate) stops() string {
	if !e.Plateaus {
		return ""
	}
	return " The signal does not rise above this limit, as if it counted served requests. It therefore hides demand " +
		"beyond the limit. Set signal.saturated to a query for the queue, or forecast arrivals instead."
}

// timesAtLimit says how often the service reached its limit.
func timesAtLimit(times int) string {
	switch times {
	case 0:
		return "The service never reached its limit"
	case 1:
		return "The service reached its limit once"
	case 2:
		return "The service reached its limit twice"
	}
	return fmt.Sprintf("The service reached its limit %d times", times)
}

// formatHours formats the length of a history, in days if it is at least two days.
func formatHours(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= 2*day {
		return formatLoad(float64(d)/float64(day)) + " days"
	}
	return formatLoad(d.Hours()) + " hours"
}

// formatLoad formats a load with as many digits as an estimate has.
func formatLoad(v float64) string { return humanize.Significant(v, 3) }
