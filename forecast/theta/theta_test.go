package theta_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/modeltest"
	"github.com/forewarm/forewarm/forecast/theta"
	"github.com/forewarm/forewarm/testdata/classic"
	"github.com/forewarm/forewarm/testdata/golden"
)

func daily(values ...float64) forecast.Series {
	return forecast.Series{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Step: 24 * time.Hour, Values: values}
}

// Half the slope of the line through a series: it rises by 2 a step, the forecast by 1.
func ExampleTheta() {
	var line []float64
	for i := range 30 {
		line = append(line, 100+2*float64(i))
	}
	fitted, err := theta.Theta{}.Estimate(daily(line...))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f %.0f\n", fitted.Drift(), fitted.Forecast(3).Point)
	// Output: 1.0 [159 160 161]
}

func airPassengers(t *testing.T) forecast.Series {
	t.Helper()
	s, err := classic.Series("AirPassengers")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// agree compares with R's thetaf, whose search for the smoothing parameter ends a little before the optimum.
func agree(t *testing.T, next forecast.Forecast, mean []float64) {
	t.Helper()
	for i, want := range mean {
		if got := next.Point[i]; math.Abs(got/want-1) > 1e-4 {
			t.Errorf("step %d: point %v, R %v", i+1, got, want)
		}
	}
}

// The figures are those of R's package forecast 8.20: thetaf(AirPassengers).
func TestAirPassengers(t *testing.T) {
	fitted, err := theta.Theta{Period: 12}.Fit(airPassengers(t))
	if err != nil {
		t.Fatal(err)
	}
	agree(t, fitted.Forecast(6), []float64{
		440.078191081586, 428.384280556983, 489.707098669638, 475.704627661373, 479.670388669209, 545.366272154216,
	})
}

func TestAgainstR(t *testing.T) {
	var data struct {
		Theta struct{ Mean, Hi95 []float64 } `json:"theta_airp"`
	}
	golden.Load(t, &data)
	fitted, err := theta.Theta{Period: 12}.Fit(airPassengers(t))
	if err != nil {
		t.Fatal(err)
	}
	next := fitted.Forecast(12)
	agree(t, next, data.Theta.Mean)
	// R leaves the standard errors as they are before the season is put back. Ours are multiplied by the season's
	// factors, whose mean is 1.
	mean := 0.0
	for i, upper := range data.Theta.Hi95 {
		mean += next.StdErr[i] / ((upper - data.Theta.Mean[i]) / 1.959963984540054) / 12
	}
	if math.Abs(mean-1) > 1e-3 {
		t.Errorf("standard errors are %v of R's", mean)
	}
}

func models() []forecast.Model {
	return []forecast.Model{theta.Theta{}, theta.Theta{Period: 2}, theta.Theta{Period: 12}}
}

func TestHostileSeries(t *testing.T) {
	for _, model := range models() {
		modeltest.Test(t, model)
	}
}

func FuzzFit(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(uint8(3), modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, period uint8, raw []byte) {
		modeltest.Check(t, theta.Theta{Period: int(period)}, modeltest.Values(raw))
	})
}

// Updated or fitted with its own parameters, the state is the same: the smoothing is, and the weight of the start.
func TestUpdateGoesOn(t *testing.T) {
	s := airPassengers(t)
	fitted, err := theta.Theta{Period: 12}.Fit(s.Slice(0, 120))
	if err != nil {
		t.Fatal(err)
	}
	before := fitted.Forecast(24)
	for _, y := range s.Values[120:132] {
		fitted.Update(y)
	}
	after := fitted.Forecast(12)
	if !after.Start.Equal(s.TimeAt(132)) {
		t.Errorf("starts at %s, want %s", after.Start, s.TimeAt(132))
	}
	better := 0
	for i, y := range s.Values[132:] {
		if math.Abs(after.Point[i]-y) < math.Abs(before.Point[12+i]-y) {
			better++
		}
	}
	if better < 10 {
		t.Errorf("a year's observations improve %d of 12 months", better)
	}
}
