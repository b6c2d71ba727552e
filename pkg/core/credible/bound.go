package credible

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/trailing"
)

const (
	// headway is what a level may be exceeded by without a rise that was seen, as a share of it.
	headway = 0.9
	// halfLife of what a level that came only once still justifies, from a lead window after it on.
	halfLife = time.Hour
	// addedMost is the most that may be added to a level with the rises that were seen, as a share of it.
	addedMost = 1.5
	// launch is how many times as high a rise must end as it began to be a launch, and no growth: history had no scale for it.
	launch = 4.0
	// usual is how long, all together, a demand must have been at a level for that to be no burst; a minute counts by its
	// lowest.
	usual = time.Hour
	// over is how many times as high as all of the last lead window a rise's peak was when the rise is over.
	over = 1 + headway
)

// Bound is the most that the history up to a sample justifies. The zero Bound is none: it bounds nothing.
type Bound struct {
	// Base is the highest credible level; Most is the most that an observed demand counts for: the base and what may be
	// added to it, infinite where the base is less than one replica sustains, for then history has no scale.
	Base, Most float64
	// Recent is the level of the last lead window or, where it is higher, that which came more than once or lasted; Once is
	// what the highest level that came a single time still justifies.
	Recent, Once float64
	// Growth is the largest credible rise within each of the windows; nil without a bound.
	Growth []float64
}

// Any says whether there is a bound.
func (b Bound) Any() bool { return b.Growth != nil }

// Limit is that of a window, by its index.
func (b Bound) Limit(window int) Limit {
	if !b.Any() {
		return Limit{}
	}
	return Limit{
		Known: true, Forecast: math.Max(above(b.Recent, b.Growth[window]), b.Once), Observed: b.Most, Base: b.Base,
	}
}

// Limit is the most that history justifies about one window. The zero Limit is none.
type Limit struct {
	// Known says that there is one.
	Known bool
	// Forecast is the most that may be forecast, Observed the most that an observed demand counts for (see Bound.Most).
	Forecast, Observed float64
	// Base is the highest credible demand.
	Base float64
}

// Cut is a forecast that is no more than the limit, and whether it was more.
func (l Limit) Cut(v float64) (most float64, was bool) {
	if l.Known && v > l.Forecast {
		return l.Forecast, true
	}
	return v, false
}

// Credit is what an observed demand counts for.
func (l Limit) Credit(v float64) float64 {
	if l.Known && v > l.Observed {
		return l.Observed
	}
	return v
}

// String says in words where the limit comes from.
func (l Limit) String() string { return fmt.Sprintf("the highest credible demand is %.6g", l.Base) }

// above is a level and what may be added to it: nine tenths of it and the largest rise that was seen, at most one and a half
// times it. As a difference a rise says something at any level; as a ratio, 3 to 1,450 would justify half a million.
//
// Worked: 1,000 with a largest rise of 20 is 1,920; with one of 300, 2,200; with one of 5,000, 2,500.
func above(level, growth float64) float64 {
	return level + math.Min(headway*level+growth, addedMost*level)
}

// limits keeps what a Bound is made of, from credible samples alone, each counted at the base at most.
type limits struct {
	// recent is the maximum of the last lead window; last is the newest level, which holds over gaps.
	recent *trailing.Max
	last   float64
	// lows are the lowest levels of the windows, negated; growth the largest rises from there. growth is copied before it
	// changes, for Bounds share it.
	lows   []*trailing.Max
	growth []float64
	// rises are the peaks of the highest two rises that are over, rise that of the present one.
	rises [2]float64
	rise  float64
	// lasted are the highest minutes, as many as are usual, the lowest first; lowest is that of the minute under way, which
	// has seen so many steps.
	lasted []float64
	lowest float64
	steps  int
	minute int
	// once falls by keep a step where nothing recent holds it up.
	once, keep float64
}

func newLimits(c Config) limits {
	l := limits{
		recent: trailing.NewMax(c.Windows[c.Lead]),
		growth: make([]float64, len(c.Windows)),
		keep: math.Exp2(
			-float64(c.Step) / float64(halfLife),
		),
		lowest: math.Inf(1),
		minute: max(1, int(time.Minute/c.Step)),
	}
	l.lasted = make([]float64, max(1, int(usual/(time.Duration(l.minute)*c.Step))))
	for _, steps := range c.Windows {
		l.lows = append(l.lows, trailing.NewMax(steps+1))
	}
	return l
}

// add takes the level of a step, NaN for a gap.
func (l *limits) add(level float64) {
	if !math.IsNaN(level) {
		l.last = level
		l.rise = math.Max(l.rise, level)
	}
	l.recent.Push(level)
	for i, low := range l.lows {
		if grown := level + low.Push(-level); grown > l.growth[i] && grown < (1-1/launch)*level {
			l.growth = append([]float64(nil), l.growth...)
			l.growth[i] = grown
		}
	}
	if l.rise > over*l.high() {
		l.end()
	}
	l.once = math.Max(l.once*l.keep, l.high())
	l.endure(level)
}

// endure takes a level into the minutes that lasted. A gap is none of them.
func (l *limits) endure(level float64) {
	if math.IsNaN(level) {
		return
	}
	l.lowest = math.Min(l.lowest, level)
	l.steps++
	if l.steps < l.minute {
		return
	}
	if l.lowest > l.lasted[0] {
		at, _ := slices.BinarySearch(l.lasted, l.lowest)
		copy(l.lasted, l.lasted[1:at])
		l.lasted[at-1] = l.lowest
	}
	l.lowest, l.steps = math.Inf(1), 0
}

// high is the highest level of the last lead window, the newest there is where all of it is a gap.
func (l *limits) high() float64 {
	if v := l.recent.Value(); !math.IsNaN(v) {
		return v
	}
	return l.last
}

// end ends the present rise; the next one begins where the demand is now.
func (l *limits) end() {
	switch {
	case l.rise > l.rises[0]:
		l.rises = [2]float64{l.rise, l.rises[0]}
	case l.rise > l.rises[1]:
		l.rises[1] = l.rise
	}
	l.rise = l.high()
}

// repeated is the highest level that more than one rise has reached.
func (l *limits) repeated() float64 {
	if l.rise >= l.rises[0] {
		return l.rises[0]
	}
	return math.Max(l.rises[1], l.rise)
}

// bound is that of the newest step, with a base.
func (l *limits) bound(base float64) Bound {
	return Bound{
		Base:   base,
		Recent: math.Max(l.high(), math.Max(l.repeated(), l.lasted[0])),
		Once:   l.once,
		Growth: l.growth,
	}
}
