package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/forecast/smoothing/ets"
)

// speedRow is the CPU time of a fit or of an online step.
type speedRow struct {
	what       string
	cpu, goal  time.Duration
	r          time.Duration
	online     bool
	allocation float64
	bytes      int
}

// timed is a fit with a goal; r is its key in speed.R, empty where R has none.
type timed struct {
	what, r string
	goal    time.Duration
	model   forecast.Model
	series  []forecast.Series
}

const (
	// sampled is how many of the competition's series are timed.
	sampled = 20
	// length of the series without season: a day of minutes.
	length = 1440
	// repeats is how often a fit is timed; the median counts.
	repeats = 3
)

// scoreSpeed times fits and online steps: those of a season of 24 on some of the competition's series, the others on a
// day of simulated minutes.
func scoreSpeed(o options, rows printer, words io.Writer) error {
	plain := simulatedSeries(length)
	seasonal, err := sampleSeries(o)
	if err != nil {
		return err
	}
	inR := map[string]time.Duration{}
	if o.r && withoutR() == "" {
		fmt.Fprintln(words, "speed of R")
		if inR, err = speedOfR(seasonal, plain); err != nil {
			return err
		}
	}
	for _, fit := range fits(seasonal, plain) {
		fmt.Fprintln(words, "speed:", fit.what)
		spent, err := fit.measure()
		if err != nil {
			return err
		}
		if err := rows.speed(speedRow{what: fit.what, cpu: spent, goal: fit.goal, r: inR[fit.r]}); err != nil {
			return err
		}
	}
	return scoreOnline(o.models, rows, words)
}

// fits are the fits to time; those without series are left out.
func fits(seasonal []forecast.Series, plain forecast.Series) []timed {
	one := []forecast.Series{plain}
	auto := ensemble.Auto{Seasons: []int{day, week}, Horizon: 48}
	const ms = time.Millisecond
	all := []timed{
		{"Holt-Winters(m=24)", "holt-winters", 5 * ms, smoothing.HoltWinters{Period: day}, seasonal},
		{"auto-ETS(m=24)", "ets", 60 * ms, ets.Auto{Period: day}, seasonal},
		{"auto-SARIMA(m=24)", "", 400 * ms, arima.Auto{Period: day}, seasonal},
		{"Auto(24, 168), 48 steps", "", 150 * ms, auto, seasonal},
		{"ARIMA(2,0,1), n=1440", "arima201", 4 * ms, arima.ARIMA{P: 2, Q: 1, Constant: true}, one},
		{"auto-ARIMA, n=1440", "auto-arima", 30 * ms, arima.Auto{}, one},
	}
	return slices.DeleteFunc(all, func(t timed) bool { return len(t.series) == 0 })
}

// measure is the mean over the series of each one's median CPU time.
func (t timed) measure() (time.Duration, error) {
	var total time.Duration
	for _, s := range t.series {
		spent := make([]time.Duration, repeats)
		for i := range spent {
			before := cpu()
			if _, err := t.model.Fit(s); err != nil {
				return 0, fmt.Errorf("%s: %w", t.what, err)
			}
			spent[i] = cpu() - before
		}
		slices.Sort(spent)
		total += spent[repeats/2]
	}
	return total / time.Duration(len(t.series)), nil
}

// sampleSeries is an evenly spread sample of the competition's series; none without files.
func sampleSeries(o options) ([]forecast.Series, error) {
	if o.train == "" {
		return nil, nil
	}
	all, err := competitors(o.train, o.test)
	if err != nil {
		return nil, err
	}
	var out []forecast.Series
	for i := 0; i < len(all); i += max(len(all)/sampled, 1) {
		out = append(out, forecast.Series{Start: time.Unix(0, 0).UTC(), Step: time.Hour, Values: all[i].train})
	}
	return out, nil
}

// simulatedSeries is n minutes of an ARMA(2,1) around 100.
func simulatedSeries(n int) forecast.Series {
	random := rand.New(rand.NewPCG(1, 2))
	s := forecast.Series{Start: time.Unix(0, 0).UTC(), Step: time.Minute, Values: make([]float64, n)}
	var y1, y2, e1 float64
	for i := range s.Values {
		e := random.NormFloat64()
		y := 0.6*y1 + 0.2*y2 + e + 0.4*e1
		y1, y2, e1 = y, y1, e
		s.Values[i] = 100 + 5*y
	}
	return s
}
