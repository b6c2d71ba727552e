package arima_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/testdata/classic"
)

// airline is the model that Box & Jenkins (1976) fitted to the logarithm of the airline passengers.
func airline() arima.ARIMA {
	return arima.ARIMA{D: 1, Q: 1, Seasonal: arima.Seasonal{D: 1, Q: 1, Period: 12}}
}

func logPassengers(t *testing.T) forecast.Series {
	t.Helper()
	s := classic.Series(t, "AirPassengers")
	for i, v := range s.Values {
		s.Values[i] = math.Log(v)
	}
	return s
}

// The likelihood and the coefficients are those of R 4.2.2's arima on the differenced series, as ours are given the
// values that the differences use up; the forecasts are those of its arima on the series itself.
func TestAirline(t *testing.T) {
	s := logPassengers(t)
	fitted := estimate(t, airline(), s)
	c := fitted.Coefficients()
	within(t, "log-likelihood", fitted.LogLikelihood(), 244.696486832818, 1e-6)
	within(t, "sigma2", fitted.Sigma2(), 0.00134809912540573, 1e-8)
	within(t, "ma1", c.MA[0], -0.401822968349082, 1e-4)
	within(t, "sma1", c.SMA[0], -0.556935853840535, 1e-4)
	next := fitted.Forecast(24)
	for h, want := range map[int][2]float64{
		1: {6.11018574072948, 0.0367156224750912}, 2: {6.05377526877209, 0.0427829095233157},
		12: {6.16802487989957, 0.0815707146142612}, 13: {6.20643498884846, 0.0900847621683112},
		24: {6.26427412801856, 0.1384340744629791},
	} {
		within(t, fmt.Sprintf("point %d", h), next.Point[h-1], want[0], 1e-3*want[1])
		within(t, fmt.Sprintf("standard error %d", h), next.StdErr[h-1]/want[1], 1, 1e-3)
	}
	fixed := airline()
	fixed.Fixed = &arima.Coefficients{MA: []float64{-0.4}, SMA: []float64{-0.55}}
	within(t, "log-likelihood at fixed coefficients", estimate(t, fixed, s).LogLikelihood(), 244.691551123147, 1e-8)
	under, _ := estimate(t, fixed, s).DiffuseLogLikelihood(s, 1e6)
	within(t, "the same under R's prior", under, 244.694580515115, 1e-8)
}

// R 4.2.2 and forecast 8.20: auto.arima finds ARIMA(2,1,1)(0,1,0)[12] with an AICc of 1018.165.
func TestAutoFindsTheSeason(t *testing.T) {
	fitted, err := arima.Auto{Period: 12}.Estimate(classic.Series(t, "AirPassengers"))
	if err != nil {
		t.Fatal(err)
	}
	order := fitted.Order()
	if order.D != 1 || order.Seasonal.D != 1 || order.Seasonal.Period != 12 {
		t.Errorf("%s, want one difference of either kind", fitted.Name())
	}
	if got := fitted.AICc(); got > 1018.165+0.01 {
		t.Errorf("%s has AICc %.3f, R finds 1018.165", fitted.Name(), got)
	}
}

func TestAutoLeavesNoSeasonWhereThereIsNone(t *testing.T) {
	values := simulate(4, 300, 0)
	fitted, err := arima.Auto{Period: 24}.Estimate(daily(values))
	if err != nil {
		t.Fatal(err)
	}
	if order := fitted.Order(); order.Seasonal.D != 0 {
		t.Errorf("%s on a series without a season", fitted.Name())
	}
	short, err := arima.Auto{Period: 24}.Estimate(daily(values[:40]))
	if err != nil {
		t.Fatal(err)
	}
	if order := short.Order(); order.Seasonal != (arima.Seasonal{}) {
		t.Errorf("%s on less than two seasons", short.Name())
	}
}

func TestBadSeasons(t *testing.T) {
	s := daily(simulate(1, 50, 0))
	for name, model := range map[string]forecast.Model{
		"a season of no length":       arima.ARIMA{Seasonal: arima.Seasonal{P: 1}},
		"a season of one step":        arima.ARIMA{Seasonal: arima.Seasonal{D: 1, Period: 1}},
		"a negative order":            arima.ARIMA{Seasonal: arima.Seasonal{Q: -1, Period: 4}},
		"too far back":                arima.ARIMA{Seasonal: arima.Seasonal{P: 3, Period: 1440}},
		"two differences and a drift": arima.ARIMA{D: 1, Seasonal: arima.Seasonal{D: 1, Period: 4}, Constant: true},
		"a period of one step":        arima.Auto{Period: 1},
	} {
		if _, err := model.Fit(s); err == nil {
			t.Errorf("%s: no error", name)
		} else if !errors.Is(err, forecast.ErrParameter) {
			t.Errorf("%s: %v, want %v", name, err, forecast.ErrParameter)
		}
	}
}
