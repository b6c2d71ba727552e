package outcome_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/pkg/decide/outcome"
	"github.com/forewarm/forewarm/pkg/decide/shape"
)

// constant forecasts the same at every step, and remembers what it was told.
type constant struct {
	forecast float64
	told     []float64
}

func (c *constant) Push(demand float64) float64 {
	c.told = append(c.told, demand)
	return c.forecast
}

// A lower bound is observed as it is. A model hears of it only where it is above what the model has forecast.
func TestABoundIsEvidenceAboveTheForecast(t *testing.T) {
	low, high := &constant{forecast: 50}, &constant{forecast: 200}
	of := shape.Config{Step: time.Minute, Window: 6 * time.Minute, Models: []string{"low", "high"}}
	o, err := outcome.New(outcome.Config{
		Shape: of, Prior: shape.Naive(shape.NewFeatures(of).Names()), Lead: 5 * time.Minute, Fixed: 1,
		Models: []outcome.Forecaster{low, high},
	})
	if err != nil {
		t.Fatal(err)
	}
	o.Step(outcome.Sample{Observed: 90, Arrived: 90})
	o.Step(outcome.Sample{Observed: 100, Arrived: 100, AtLeast: true})
	o.Step(outcome.Sample{Observed: 80, Arrived: 80})
	if diff := cmp.Diff([]float64{90, 100, 80}, low.told); diff != "" {
		t.Errorf("below the bound (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]float64{90, math.NaN(), 80}, high.told, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("above the bound (-want +got)\n%s", diff)
	}
	o.Step(outcome.Sample{Observed: 120, Arrived: 120, AtLeast: true})
	if o.Now() != 120 || o.Value() < 120 {
		t.Errorf("observed %v, served %v; want no less than 120", o.Now(), o.Value())
	}
}
