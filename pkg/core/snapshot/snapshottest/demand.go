package snapshottest

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// demandAt is in requests/s: a daily cycle with its peak at 15:00 UTC, two slower waves, and a ripple in place of
// noise, so that it needs no state.
func demandAt(at time.Time) float64 {
	hours := float64(at.Unix()) / 3600
	day := math.Cos(2 * math.Pi * (hours - 15) / 24)
	ripple := 3.1*math.Sin(hours*17.3) + 2.3*math.Sin(hours*41.7+1) + 1.9*math.Sin(hours*97.1+2)
	burst := 14 * math.Exp(-math.Pow(math.Mod(hours, 6)-2, 2)/0.1)
	return math.Max(0, 72+44*day+ripple+burst)
}

// peak is the maximum of the demand over (at, at + window].
func peak(at time.Time) float64 {
	highest := 0.0
	for ahead := step; ahead <= window; ahead += step {
		highest = math.Max(highest, demandAt(at.Add(ahead)))
	}
	return highest
}

// horizons are those of the path and the windows, up to an hour.
func horizons() []time.Duration {
	return []time.Duration{
		step, time.Minute, 2 * time.Minute, window, 10 * time.Minute, 20 * time.Minute, 40 * time.Minute, time.Hour,
	}
}

// spread is the standard deviation of a random walk over a time ahead.
func spread(ahead time.Duration) float64 { return 2 + 2.4*math.Sqrt(ahead.Minutes()) }

// scores are standard normal quantiles at windowpeak.QuantileLevels().
var scores = windowpeak.Quantiles{ //nolint:gochecknoglobals // A constant table.
	-1.6449, -0.6745, 0, 0.6745, 0.8416, 1.2816, 1.6449, 1.96, 2.3263, 2.5758,
}

// windows are the distributions of a model that forecasts a rise per hour.
func windows(observed, rise float64) []windowpeak.Window {
	out := make([]windowpeak.Window, 0, len(horizons()))
	for _, h := range horizons() {
		w := windowpeak.Window{Horizon: h}
		for i, z := range scores {
			w.Quantiles[i] = math.Max(0, observed+rise*h.Hours()+spread(h)*(0.6+z))
		}
		out = append(out, w)
	}
	return out
}

func candidates(observed float64) []snapshot.Candidate {
	return []snapshot.Candidate{
		{
			Name:     "arima",
			Title:    "ARIMA(1,1,1)",
			Windows:  windows(observed, 9),
			Loss:     0.71,
			Skill:    0.184,
			Coverage: 0.953,
		},
		{
			Name: "holt-winters", Title: "HoltWinters(m=2880)", Windows: windows(observed, 12),
			Loss: 0.78, Skill: 0.103, Coverage: 0.961,
		},
		{
			Name: "last-value", Title: "last value", Baseline: true, Windows: windows(observed, 0),
			Loss: 0.87, Skill: 0, Coverage: 0.948,
		},
		{
			Name:     "same-time-last-week",
			Title:    "SeasonalNaive(m=20160)",
			Baseline: true,
			Loss:     math.NaN(),
			Skill:    math.NaN(),
			Coverage: math.NaN(),
			Error:    "8640 observations, expected at least 20161: too short",
		},
	}
}

// inputs are those of the selected candidate over the last half lead time.
func inputs(chosen []windowpeak.Window, now time.Time) []decide.Input {
	own, _ := windowpeak.QuantilesAtHorizon(chosen, window)
	out := make([]decide.Input, decide.HoldSteps(lead, step))
	for i := range out {
		at := now.Add(-time.Duration(len(out)-i) * step)
		out[i] = decide.Input{
			Observed: demandAt(at), Quantiles: own,
			Peak: windowpeak.Peak{Median: own.At(0.5), Spread: own.At(0.95) - own.At(0.5)},
		}
	}
	return out
}

// path is an hour of steps ahead.
func path(now time.Time) []snapshot.PathStep {
	out := make([]snapshot.PathStep, time.Hour/step)
	from := demandAt(now.Add(-step))
	for i := range out {
		ahead := time.Duration(i+1) * step
		point := from + 9*ahead.Hours()
		sd := spread(ahead)
		out[i] = snapshot.PathStep{
			Time: now.Add(ahead - step), Point: point,
			Quantiles: [3]float64{point, point + 0.8416*sd, point + 1.6449*sd},
		}
	}
	return out
}

// nextDay is a day of hours, made an hour ago.
func nextDay(now time.Time) []snapshot.PathStep {
	out := make([]snapshot.PathStep, 24)
	for i := range out {
		at := now.Truncate(time.Hour).Add(time.Duration(i-1) * time.Hour)
		point := demandAt(at.Add(30 * time.Minute))
		out[i] = snapshot.PathStep{Time: at, Point: point, Quantiles: [3]float64{point, 1.1 * point, 1.2 * point}}
	}
	return out
}

// past is a day of forecasts every quarter of an hour, with the actual maxima; the newest is open.
func past(now time.Time) []snapshot.ScoredForecast {
	const every = 15 * time.Minute
	out := make([]snapshot.ScoredForecast, 24*time.Hour/every)
	for i := range out {
		at := now.Add(-24 * time.Hour).Add(time.Duration(i+1) * every)
		out[i] = snapshot.ScoredForecast{At: at.Unix(), Forecast: demandAt(at) + 1.6*spread(window), Actual: peak(at)}
	}
	out[len(out)-1].Actual = math.NaN()
	return out
}
