package windowpeak

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast/interval"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// The constants of calibration.
const (
	// scoreCount is how many scores of the lead window are kept: of a day one every four minutes. The other windows are scored
	// only every otherEvery-th time.
	scoreCount = 360
	otherEvery = 3
	// minScores is how many a calibrated quantile needs.
	minScores = 40
	// adaptRate is the step of the adaptive level for each score (Gibbs & Candès 2021 advise about 0.005 for independent
	// scores).
	adaptRate = 0.02
	// maxScore: a window that began before a launch or a jump of the demand measures that jump, not the error of forecasts of
	// the new demand.
	maxScore = 30
)

// scores are the errors of a candidate's forecasts, in its unit at their time (conformal scores).
type scores struct {
	level   float64
	windows []int // in steps, ascending
	own     int   // index of the lead window among them
	views   []windowScores
	units   series.Ring[float64] // of the open windows
	// adaptive keeps the coverage at the served level; issuedQuantiles are those of the open lead windows.
	adaptive        interval.Adaptive
	issuedQuantiles series.Ring[float64]
	// loss is the pinball loss at the served level, as a share of the mean demand; coverage is the share of peaks up to it.
	loss, coverage series.FadingMean
}

// windowScores are those of one window, with the medians of the open ones.
type windowScores struct {
	issued series.Ring[float64]
	scores *interval.Scores
}

func newScores(c Config, windows []int, own int) scores {
	longest := windows[len(windows)-1]
	s := scores{
		level: c.Level, windows: windows, own: own, views: make([]windowScores, len(windows)),
		units: series.NewRing[float64](longest + 1), issuedQuantiles: series.NewRing[float64](windows[own] + 1),
		adaptive: interval.NewAdaptive(c.Level, adaptRate),
		// A half-life of a season covers a whole cycle, and is short enough to demote a model that no longer fits.
		loss: series.NewFadingMean(c.season()), coverage: series.NewFadingMean(c.season()),
	}
	for i, w := range windows {
		kept := scoreCount / otherEvery
		if i == own {
			kept = scoreCount
		}
		s.views[i] = windowScores{issued: series.NewRing[float64](w + 1), scores: interval.NewScores(kept)}
	}
	return s
}

// actualPeaks are those of the windows that end at a step.
type actualPeaks struct {
	// maxima over each of the windows, NaN if unknown; exact is false for a lower bound.
	maxima []float64
	exact  []bool
	// level is the mean demand; weight is the time that the scores of this step stand for.
	level  float64
	weight time.Duration
}

// score scores the windows that end. A lower bound counts only above the forecast.
func (s *scores) score(now *actualPeaks) {
	for i := range s.views {
		v, w := &s.views[i], s.windows[i]
		if !v.issued.Has(w - 1) {
			continue
		}
		z := inUnits(now.maxima[i]-v.issued.Ago(w-1), s.units.Ago(w-1))
		if math.IsNaN(z) || !now.exact[i] && z <= v.scores.Quantile(s.level) {
			continue
		}
		v.scores.Add(min(max(z, -maxScore), maxScore))
	}
	w := s.windows[s.own]
	if !s.issuedQuantiles.Has(w - 1) {
		return
	}
	peak, bound := now.maxima[s.own], s.issuedQuantiles.Ago(w-1)
	if math.IsNaN(peak) || math.IsNaN(bound) || peak <= bound && !now.exact[s.own] {
		return
	}
	within := peak <= bound
	s.adaptive.Record(within)
	s.coverage.Add(indicator(within), now.weight)
	s.loss.Add(relativeLoss(pinball(s.level, peak, bound), now.level), now.weight)
}

// maxLoss bounds one loss: a launch, which nothing announced, must not outweigh all that follows.
const maxLoss = 10

// relativeLoss is a loss as a share of a level.
func relativeLoss(loss, level float64) float64 {
	if loss == 0 {
		return 0
	}
	return math.Min(loss/level, maxLoss) // The level may be 0.
}

// inUnits is an error in a unit, which may be 0.
func inUnits(miss, unit float64) float64 {
	if miss == 0 {
		return 0
	}
	return miss / unit
}

// issue records the forecasts of a step: the peak of the lead window, and the medians of the others, NaN for none.
func (s *scores) issue(medians []float64, peak Peak, bound demand.Bound) {
	medians[s.own] = peak.Median
	for i := range s.views {
		s.views[i].issued.Push(medians[i])
	}
	s.units.Push(peak.unit())
	q := math.NaN()
	if s.calibrated(s.own) {
		q = boundedQuantile(s.own, peak, s.quantile(s.own, s.level), bound)
	}
	s.issuedQuantiles.Push(q)
}

// skip records a step without forecasts to score.
func (s *scores) skip() {
	for i := range s.views {
		s.views[i].issued.Push(math.NaN())
	}
	s.units.Push(math.NaN())
	s.issuedQuantiles.Push(math.NaN())
}

func (s *scores) calibrated(view int) bool { return s.views[view].scores.Len() >= minScores }

// quantile of a peak over a window, in units above its median.
func (s *scores) quantile(view int, level float64) float64 {
	return s.views[view].scores.Quantile(s.adaptive.Level(level))
}

// boundedQuantile is so many units above the median, at most what history can justify.
func boundedQuantile(view int, p Peak, units float64, bound demand.Bound) float64 {
	q, _ := bound.Limit(view).CapForecast(math.Max(0, p.Median+p.unit()*units))
	return q
}

// quantiles of a peak over a calibrated window, at most what history can justify.
func (s *scores) quantiles(view int, p Peak, bound demand.Bound) Quantiles {
	var q Quantiles
	for i, level := range QuantileLevels() {
		q[i] = boundedQuantile(view, p, s.quantile(view, level), bound)
	}
	return q
}

// pinball is the loss of a p-quantile q for the actual value y (Koenker & Bassett 1978).
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
