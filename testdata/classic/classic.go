// Package classic gives the tests the classic series of this folder and the reference figures on them.
package classic

import (
	"embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

//go:embed *.csv reference.json
var files embed.FS

// ARIMA is a fit of R's arima: with maximum likelihood, or with fixed coefficients and then without standard errors.
type ARIMA struct {
	Series         string
	Order          [3]int
	Constant       bool
	AR, MA         []float64
	Mean           float64
	StandardErrors []float64
	Sigma2         float64
	LogLikelihood  float64
	AICc           float64
	Forecast       []float64
	ForecastStdErr []float64
}

// Smoothing is an exponential smoothing by R, of a named series or of the values.
type Smoothing struct {
	Series             string
	Values             []float64
	Period             int
	Alpha, Beta, Gamma float64
	SSE, Level, Trend  float64
	StartLevel         float64
	Season, Forecast   []float64
}

// SeasonalNaive scores the seasonal naive forecast of what follows the first Train values.
type SeasonalNaive struct {
	Series          string
	Train, Period   int
	MAE, RMSE, MASE float64
}

// KPSS is the statistic for stationarity around a level, and the number of differences that its tests ask for.
type KPSS struct {
	Series      string
	Statistic   float64
	Differences int
}

// Auto is the model that auto.arima chose.
type Auto struct {
	Series, Model string
	AICc          float64
}

// Reference are all reference figures.
type Reference struct {
	ARIMA, ARIMAFixed                []ARIMA
	HoltWinters, SES, SESFixed, Holt []Smoothing
	SeasonalNaive                    SeasonalNaive
	KPSS                             []KPSS
	Auto                             []Auto
}

// Load reads the reference figures.
func Load(t testing.TB) Reference {
	t.Helper()
	var out Reference
	data, err := files.ReadFile("reference.json")
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Series reads a series by the name of its file. Its grid is a day a step, whatever the calendar said.
func Series(t testing.TB, name string) forecast.Series {
	t.Helper()
	s, err := Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Read is Series for examples.
func Read(name string) (forecast.Series, error) {
	s := forecast.Series{Start: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC), Step: 24 * time.Hour}
	file, err := files.Open(name + ".csv")
	if err != nil {
		return s, err
	}
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return s, fmt.Errorf("%s: %w", name, err)
	}
	for _, row := range rows[1:] {
		value := math.NaN()
		if row[1] != "" {
			if value, err = strconv.ParseFloat(row[1], 64); err != nil {
				return s, fmt.Errorf("%s: %w", name, err)
			}
		}
		s.Values = append(s.Values, value)
	}
	return s, nil
}
