package demand

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/series"
)

const (
	// maxUnseenRise is how far above a level a demand is credible without an observed rise, as a share of the level.
	maxUnseenRise = 0.9
	// maxRise is the maximum that is added to a level in total, as a share of the level.
	maxRise = 1.5
	// launchRatio is the ratio from which a rise counts as a launch and not as growth, because the history before it has no comparable
	// scale.
	launchRatio = 4.0
	// lastingTime is how long in total a demand must have been at a level so that the level is more than a burst. Each minute counts with
	// its minimum.
	lastingTime = time.Hour
	// riseOverRatio is the ratio of a rise's peak to the maximum of the last lead window above which the rise is over.
	riseOverRatio = 1 + maxUnseenRise
)

// Bound is the most that the history up to a sample justifies. The zero Bound limits nothing.
type Bound struct {
	// Base is the highest credible level. MaxObserved is the maximum that an observed demand counts as: the base plus the credible rise
	// above it. It is infinite if the base is less than one replica sustains, because the history then has no scale.
	Base, MaxObserved float64
	// Usual is the highest level that was reached more than once, or lasted an hour in total; 0 if there is none. Repeated is Usual or, if
	// it is higher, the level of the last lead window.
	Usual, Repeated float64
	// Growth is the largest credible rise within each of the windows; nil in the zero Bound.
	Growth []float64
	// Left is the remaining, decayed part of the demand before an outage, for all windows; 0 while there is no outage.
	Left float64
}

// known reports whether the bound limits anything.
func (b Bound) known() bool { return b.Growth != nil }

// Limit returns the limit of a window, by its index.
func (b Bound) Limit(window int) Limit {
	var out Limit
	if b.known() {
		forecast := withRise(b.Repeated, b.Growth[window])
		out = Limit{Known: true, Forecast: forecast, Observed: b.MaxObserved, Base: b.Base}
	}
	if b.Left > 0 {
		forecast, _ := out.CapForecast(b.Left)
		out = Limit{Known: true, Forecast: forecast, Observed: out.CapObserved(b.Left), Base: b.Base, Outage: true}
	}
	return out
}

// Limit is the most that history justifies for one window. The zero Limit limits nothing.
type Limit struct {
	// Known is true if there is a limit.
	Known bool
	// Forecast is the maximum that may be forecast. Observed is the maximum that an observed demand counts as (see Bound.MaxObserved).
	Forecast, Observed float64
	// Base is the highest credible demand.
	Base float64
	// Outage: the limit is the remaining, decayed part of the demand before an outage.
	Outage bool
}

// Raised returns the limit of a demand that is known to be a multiple of the usual demand, or to be at least a given demand.
func (l Limit) Raised(times, atLeast float64) Limit {
	if l.Known && (times > 1 || atLeast > 0) {
		l.Forecast = raised(l.Forecast, times, atLeast)
		l.Observed = raised(l.Observed, times, atLeast)
	}
	return l
}

// raised returns a credible level, raised by what an event announces: to a multiple, or to at least a demand with the credible rise above
// it.
func raised(level, times, atLeast float64) float64 {
	return math.Max(level*math.Max(times, 1), withRise(atLeast, 0))
}

// CapForecast returns a forecast capped at the limit, and whether it exceeded the limit.
func (l Limit) CapForecast(v float64) (most float64, was bool) {
	if l.Known && v > l.Forecast {
		return l.Forecast, true
	}
	return v, false
}

// CapObserved returns what an observed demand counts as.
func (l Limit) CapObserved(v float64) float64 {
	if l.Known && v > l.Observed {
		return l.Observed
	}
	return v
}

// String describes what the limit is based on.
func (l Limit) String() string {
	if l.Outage {
		return "the demand suddenly fell to almost 0, and the value from before the fall decays"
	}
	return fmt.Sprintf("the highest credible demand is %.6g", l.Base)
}

// withRise returns a level plus the credible rise above it. The credible rise is nine tenths of the level plus the largest observed rise,
// at most one and a half times the level. Observed rises count as differences, which are meaningful at any level. As a ratio, a rise from 3
// to 1,450 would justify half a million later.
func withRise(level, growth float64) float64 {
	return level + math.Min(maxUnseenRise*level+growth, maxRise*level)
}

// boundTracker computes Bounds from credible samples. Each sample counts as at most the base.
type boundTracker struct {
	// recent is the maximum of the last lead window. last is the newest level, which persists over gaps.
	recent *series.TrailingMax
	last   float64
	// lows are the negated minima of the windows, and growth are the largest rises from these minima. growth is copied before it changes,
	// because Bounds share it.
	lows   []*series.TrailingMax
	growth []float64
	// rises are the peaks of the two highest past rises. rise is the peak of the present rise.
	rises [2]float64
	rise  float64
	// highestMinutes are the minima of the highest minutes, as many as fill lastingTime, in ascending order. lowest is the minimum of the
	// current minute, steps is its number of steps so far, and minute is the number of steps in a minute.
	highestMinutes []float64
	lowest         float64
	steps          int
	minute         int
}

func newBoundTracker(c FilterConfig) boundTracker {
	l := boundTracker{
		recent: series.NewTrailingMax(c.Windows[c.Lead]),
		growth: make([]float64, len(c.Windows)),
		lowest: math.Inf(1),
		minute: max(1, int(time.Minute/c.Step)),
	}
	l.highestMinutes = make([]float64, max(1, int(lastingTime/(time.Duration(l.minute)*c.Step))))
	for _, steps := range c.Windows {
		l.lows = append(l.lows, series.NewTrailingMax(steps+1))
	}
	return l
}

// add adds the level of a step, NaN for a gap.
func (l *boundTracker) add(level float64) {
	if !math.IsNaN(level) {
		l.last = level
		l.rise = math.Max(l.rise, level)
	}
	l.recent.Push(level)
	for i, low := range l.lows {
		if grown := level + low.Push(-level); grown > l.growth[i] && grown < (1-1/launchRatio)*level {
			l.growth = append([]float64(nil), l.growth...)
			l.growth[i] = grown
		}
	}
	if l.rise > riseOverRatio*l.high() {
		l.endRise()
	}
	l.addToMinute(level)
}

// addToMinute adds a level to the current minute. Gaps do not count.
func (l *boundTracker) addToMinute(level float64) {
	if math.IsNaN(level) {
		return
	}
	l.lowest = math.Min(l.lowest, level)
	l.steps++
	if l.steps < l.minute {
		return
	}
	if l.lowest > l.highestMinutes[0] {
		at, _ := slices.BinarySearch(l.highestMinutes, l.lowest)
		copy(l.highestMinutes, l.highestMinutes[1:at])
		l.highestMinutes[at-1] = l.lowest
	}
	l.lowest, l.steps = math.Inf(1), 0
}

// high returns the highest level of the last lead window, or the newest level if the window has only gaps.
func (l *boundTracker) high() float64 {
	if v := l.recent.Value(); !math.IsNaN(v) {
		return v
	}
	return l.last
}

// endRise ends the present rise; the next one starts at the current demand.
func (l *boundTracker) endRise() {
	switch {
	case l.rise > l.rises[0]:
		l.rises = [2]float64{l.rise, l.rises[0]}
	case l.rise > l.rises[1]:
		l.rises[1] = l.rise
	}
	l.rise = l.high()
}

// repeated returns the highest level that more than one rise has reached.
func (l *boundTracker) repeated() float64 {
	if l.rise >= l.rises[0] {
		return l.rises[0]
	}
	return math.Max(l.rises[1], l.rise)
}

// bound returns the Bound of the newest step.
func (l *boundTracker) bound(base float64) Bound {
	usual := math.Max(l.repeated(), l.highestMinutes[0])
	return Bound{Base: base, Usual: usual, Repeated: math.Max(l.high(), usual), Growth: l.growth}
}
