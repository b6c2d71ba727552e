package forecast_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
)

var (
	start = time.Date(2026, time.November, 2, 8, 0, 0, 0, time.UTC)
	gap   = math.NaN()
)

func hourly(values ...float64) forecast.Series {
	return forecast.Series{Start: start, Step: time.Hour, Values: values}
}

func TestSeries(t *testing.T) {
	s := hourly(1, gap, 3, 4)
	if s.Len() != 4 || s.Observed() != 3 {
		t.Errorf("%d steps, %d observed; want 4, 3", s.Len(), s.Observed())
	}
	if want := start.Add(4 * time.Hour); !s.End().Equal(want) {
		t.Errorf("ends at %s, want %s", s.End(), want)
	}
	want := forecast.Series{Start: start.Add(time.Hour), Step: time.Hour, Values: []float64{gap, 3}}
	part := s.Slice(1, 3)
	if diff := cmp.Diff(want, part, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("slice (-want +got)\n%s", diff)
	}
	if grown := append(part.Values, 99); s.Values[3] != 4 { //nolint:gocritic // The append is what is tested.
		t.Errorf("appending to a slice wrote %v into the series", grown[2])
	}
}

func TestSeriesCheck(t *testing.T) {
	for name, tt := range map[string]struct {
		series forecast.Series
		want   int
		err    error
	}{
		"enough":              {hourly(1, gap, 3), 2, nil},
		"gaps do not count":   {hourly(1, gap, 3), 3, forecast.ErrTooShort},
		"infinite":            {hourly(1, math.Inf(-1)), 1, forecast.ErrNotFinite},
		"a step of zero":      {forecast.Series{Values: []float64{1}}, 1, forecast.ErrParameter},
		"empty, none is fine": {hourly(), 0, nil},
	} {
		if err := tt.series.Check(tt.want); !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, want %v", name, err, tt.err)
		}
	}
}

func TestForecastQuantile(t *testing.T) {
	f := forecast.Forecast{Start: start, Step: time.Hour, Point: []float64{10, 20}, StdErr: []float64{1, 2}}
	// The 97.5 % point of the standard normal distribution is 1.959964.
	for i, want := range []float64{10 + 1.959964, 20 + 2*1.959964} {
		if got := f.Quantile(0.975)[i]; math.Abs(got-want) > 1e-6 {
			t.Errorf("step %d: %v, want %v", i, got, want)
		}
		if got := f.Quantile(0.5)[i]; got != f.Point[i] {
			t.Errorf("step %d: the median is %v, the point %v", i, got, f.Point[i])
		}
	}
}

// uniform marginals lie between 0 and the step's limit.
type uniform []float64

func (u uniform) Quantile(i int, p float64) float64 { return p * u[i] }

func TestForecastQuantileOfMarginals(t *testing.T) {
	f := forecast.Forecast{Point: []float64{5, 10}, StdErr: []float64{1, 2}, Marginals: uniform{10, 20}}
	if diff := cmp.Diff([]float64{9, 18}, f.Quantile(0.9)); diff != "" {
		t.Errorf("the 90 %% quantiles of uniform marginals (-want +got)\n%s", diff)
	}
}

// falling forecasts a line that goes below 0.
type falling struct{ forecast.Model }

func (falling) Fit(forecast.Series) (forecast.Fitted, error) { return &fallen{}, nil }

type fallen struct{ forecast.Fitted }

func (*fallen) Update(float64) {}

func (*fallen) PointsTo(dst []float64) { copy(dst, []float64{1, -1}) }

func (*fallen) Forecast(int) forecast.Forecast {
	return forecast.Forecast{Point: []float64{1, -1}, StdErr: []float64{1, 1}}
}

func TestNonNegative(t *testing.T) {
	model := forecast.NonNegative{Model: falling{}}
	fitted, err := model.Fit(hourly(3, 2, 0))
	if err != nil {
		t.Fatal(err)
	}
	next, points := fitted.Forecast(2), make([]float64, 2)
	fitted.PointsTo(points)
	got := [][]float64{next.Point, points, next.Quantile(0.5), next.Quantile(0.01)}
	if diff := cmp.Diff([][]float64{{1, 0}, {1, 0}, {1, 0}, {0, 0}}, got); diff != "" {
		t.Errorf("a series that was never negative (-want +got)\n%s", diff)
	}
	fitted.Update(-1)
	if got := fitted.Forecast(2).Point[1]; got != -1 {
		t.Errorf("after a negative value the second point is %v, want -1", got)
	}
	if _, err := (forecast.NonNegative{}).Fit(hourly(1)); !errors.Is(err, forecast.ErrParameter) {
		t.Errorf("without a model: %v", err)
	}
}
