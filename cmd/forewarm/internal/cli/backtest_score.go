package cli

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/forewarm/forewarm/forecast/accuracy"
	"github.com/forewarm/forewarm/forecast/backtest"
)

// score is how a model did at a horizon. What cannot be told is NaN.
type score struct {
	// horizon in steps, count the values that were judged.
	horizon, count int
	// mae is in the unit of the demand; mase is relative to repeating the last season, before the first origin.
	mae, mase float64
	// loss and coverage are of the quantiles of the window peak, by levels: the pinball loss, in the unit of the
	// demand, and the share of windows whose maximum the quantile held.
	loss, coverage []float64
}

// scores judges all models on the same values: what one of them could not forecast counts for none. The result is by
// model and horizon, nil for a model that has an error.
func scores(p plan, models []modelResult) [][]score {
	out := make([][]score, len(models))
	for h := range p.horizons {
		points, windows := commonValues(tracksOf(models, h))
		for i := range models {
			if models[i].err == nil {
				out[i] = append(out[i], p.score(&models[i].tracks[h], points, windows))
			}
		}
	}
	return out
}

// tracksOf are those of the models without an error at a horizon.
func tracksOf(models []modelResult, h int) []*backtest.Track {
	var out []*backtest.Track
	for i := range models {
		if models[i].err == nil {
			out = append(out, &models[i].tracks[h])
		}
	}
	return out
}

// commonValues are the values, and the windows' maxima, that came and that every model forecast.
func commonValues(tracks []*backtest.Track) (points, windows []float64) {
	if len(tracks) == 0 {
		return nil, nil
	}
	points, windows = append(points, tracks[0].Actual...), append(windows, tracks[0].Peak...)
	for _, track := range tracks {
		for i := range points {
			if math.IsNaN(track.Point[i]) {
				points[i] = math.NaN()
			}
			if math.IsNaN(track.PeakQuantile[verdictLevel][i]) {
				windows[i] = math.NaN()
			}
		}
	}
	return points, windows
}

func (p *plan) score(track *backtest.Track, points, windows []float64) score {
	period := 1
	if p.season > 1 && p.first > p.season {
		period = p.season
	}
	out := score{
		horizon: track.Horizon,
		mae:     scoreOrNaN(accuracy.MAE(points, track.Point)),
		mase:    scoreOrNaN(accuracy.MASE(points, track.Point, p.series.Values[:p.first], period)),
	}
	for _, v := range windows {
		if !math.IsNaN(v) {
			out.count++
		}
	}
	below := slices.Repeat([]float64{math.Inf(-1)}, len(windows))
	for q, level := range levels() {
		out.loss = append(out.loss, scoreOrNaN(accuracy.Pinball(windows, track.PeakQuantile[q], level)))
		out.coverage = append(out.coverage, scoreOrNaN(accuracy.Coverage(windows, below, track.PeakQuantile[q])))
	}
	return out
}

// scoreOrNaN is the value, NaN where nothing was judged or there is nothing to scale by.
func scoreOrNaN(value float64, err error) float64 {
	if err != nil {
		return math.NaN()
	}
	return value
}

const (
	// equalWithin is the difference below which two losses are called the same: the server promotes a model for no less.
	equalWithin = 0.03
	// batches are the stretches whose losses are compared; each holds leastWindows windows that do not overlap, and with
	// fewer than leastBatches nothing is sure.
	batches, leastBatches, leastWindows = 20, 8, 2
	// standardErrors is how many standard errors a difference must be from nothing.
	standardErrors = 2
)

// lossDifference is by which share a model loses more than another at the lead time, and whether that is more than chance: the
// difference of the losses is compared with its standard error from the means of batches, for neighbouring windows
// overlap (Diebold & Mariano 1995 compare forecasts so; batch means after Law & Carson 1979).
func (r backtestReport) lossDifference(model, other int) (share float64, sure bool) {
	share = r.loss(model, r.lead)/r.loss(other, r.lead) - 1
	own, its := r.track(model).PeakQuantile[verdictLevel], r.track(other).PeakQuantile[verdictLevel]
	n := len(r.windows)
	count := min(batches, n*r.plan.stride/(leastWindows*r.plan.lead))
	var differences []float64
	for b := range count {
		from, to := b*n/count, (b+1)*n/count
		a := scoreOrNaN(accuracy.Pinball(r.windows[from:to], own[from:to], levels()[verdictLevel]))
		c := scoreOrNaN(accuracy.Pinball(r.windows[from:to], its[from:to], levels()[verdictLevel]))
		if difference := a - c; !math.IsNaN(difference) {
			differences = append(differences, difference)
		}
	}
	if len(differences) < leastBatches {
		return share, false
	}
	mean, deviation := stat.MeanStdDev(differences, nil)
	return share, math.Abs(mean) > standardErrors*deviation/math.Sqrt(float64(len(differences)))
}
