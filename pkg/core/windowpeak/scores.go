package windowpeak

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast/interval"
	"github.com/forewarm/forewarm/pkg/core/credible"
	"github.com/forewarm/forewarm/pkg/core/trailing"
)

// The constants of calibration.
const (
	// scoreCount scores are kept for each candidate over the lead window: of a day one every four minutes. The other windows,
	// of which there are several, are scored only so often.
	scoreCount = 360
	otherEvery = 3
	// fewestScores with which a quantile is called calibrated.
	fewestScores = 40
	// adaptRate is the step of the adaptive level for each score (Gibbs & Candès 2021 advise about 0.005 for scores that are
	// independent).
	adaptRate = 0.02
	// farthest is the largest score: a window that began before a launch or a leap of the demand says how far it leapt, and
	// not how far forecasts of the new demand go wrong.
	farthest = 30
)

// scores are how the forecasts of a candidate turned out, in parts of its unit at their time.
type scores struct {
	level   float64
	windows []int // in steps, ascending
	own     int   // index of the lead window among them
	views   []view
	units   trailing.Ring[float64] // of the windows that are open
	// adaptive keeps the served level's coverage; bounds are the quantiles it gave, one for each open lead window.
	adaptive interval.Adaptive
	bounds   trailing.Ring[float64]
	// loss is the pinball loss at the served level, as a share of the mean demand; coverage the share of peaks within it.
	loss, coverage trailing.Fading
}

// view is one window: the medians of those that are open, and how they turned out.
type view struct {
	issued trailing.Ring[float64]
	scores *interval.Scores
}

func newScores(c Config, windows []int, own int) scores {
	longest := windows[len(windows)-1]
	s := scores{
		level: c.Level, windows: windows, own: own, views: make([]view, len(windows)),
		units: trailing.NewRing[float64](longest + 1), bounds: trailing.NewRing[float64](windows[own] + 1),
		adaptive: interval.NewAdaptive(c.Level, adaptRate),
		// A season's half-life is long enough to hold all of a cycle, short enough to demote a model that has stopped.
		loss: trailing.NewFading(c.season()), coverage: trailing.NewFading(c.season()),
	}
	for i, w := range windows {
		kept := scoreCount / otherEvery
		if i == own {
			kept = scoreCount
		}
		s.views[i] = view{issued: trailing.NewRing[float64](w + 1), scores: interval.NewScores(kept)}
	}
	return s
}

// came is what is known of the windows that end at a step.
type came struct {
	// maxima over each of the windows, NaN where one is not known; exact says that it was that, and not more.
	maxima []float64
	exact  []bool
	// level is the mean demand; time is how much of it the scores of this step stand for.
	level float64
	time  time.Duration
}

// score takes what came. A maximum that is a lower bound counts where it is above what was forecast.
func (s *scores) score(now *came) {
	for i := range s.views {
		v, w := &s.views[i], s.windows[i]
		if !v.issued.Knows(w - 1) {
			continue
		}
		z := parts(now.maxima[i]-v.issued.Ago(w-1), s.units.Ago(w-1))
		if math.IsNaN(z) || !now.exact[i] && z <= v.scores.Quantile(s.level) {
			continue
		}
		v.scores.Add(min(max(z, -farthest), farthest))
	}
	w := s.windows[s.own]
	if !s.bounds.Knows(w - 1) {
		return
	}
	peak, bound := now.maxima[s.own], s.bounds.Ago(w-1)
	if math.IsNaN(peak) || math.IsNaN(bound) || peak <= bound && !now.exact[s.own] {
		return
	}
	within := peak <= bound
	s.adaptive.Record(within)
	s.coverage.Add(indicator(within), now.time)
	s.loss.Add(relative(pinball(s.level, peak, bound), now.level), now.time)
}

// mostLoss bounds one loss: a launch, of which nobody knew, must not weigh more than all that follows.
const mostLoss = 10

// relative is a loss as a share of a level.
func relative(loss, level float64) float64 {
	if loss == 0 {
		return 0
	}
	return math.Min(loss/level, mostLoss) // The level may be 0.
}

// parts is a miss in parts of a unit, which may be 0.
func parts(miss, unit float64) float64 {
	if miss == 0 {
		return 0
	}
	return miss / unit
}

// issue takes the forecasts that are made at a step: the peak of the lead window, the medians of the others, NaN for none.
func (s *scores) issue(medians []float64, peak Peak, bound credible.Bound) {
	medians[s.own] = peak.Median
	for i := range s.views {
		s.views[i].issued.Push(medians[i])
	}
	s.units.Push(peak.unit())
	q := math.NaN()
	if s.calibrated(s.own) {
		q = cut(s.own, peak, s.quantile(s.own, s.level), bound)
	}
	s.bounds.Push(q)
}

// pass takes a step at which nothing is forecast that will be scored.
func (s *scores) pass() {
	for i := range s.views {
		s.views[i].issued.Push(math.NaN())
	}
	s.units.Push(math.NaN())
	s.bounds.Push(math.NaN())
}

func (s *scores) calibrated(view int) bool { return s.views[view].scores.Len() >= fewestScores }

// quantile of a peak over a window, in units above its median.
func (s *scores) quantile(view int, level float64) float64 {
	return s.views[view].scores.Quantile(s.adaptive.Level(level))
}

// cut is so many units above the median of a peak, as far as history justifies.
func cut(view int, p Peak, units float64, bound credible.Bound) float64 {
	q, _ := bound.Limit(view).Cut(math.Max(0, p.Median+p.unit()*units))
	return q
}

// quantiles is the distribution of a peak over a window that is calibrated, no more than history justifies.
func (s *scores) quantiles(view int, p Peak, bound credible.Bound) Quantiles {
	var q Quantiles
	for i, level := range Levels() {
		q[i] = cut(view, p, s.quantile(view, level), bound)
	}
	return q
}

// pinball is the loss of a p-quantile q when y came (Koenker & Bassett 1978).
func pinball(p, y, q float64) float64 {
	if y > q {
		return p * (y - q)
	}
	return (1 - p) * (q - y)
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
