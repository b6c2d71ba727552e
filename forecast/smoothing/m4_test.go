package smoothing_test

import (
	"compress/gzip"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/forecast/smoothing/ets"
)

// BenchmarkM4 fits the hourly series of the M4 competition (the even ones, from the folder that FOREWARM_DATA names), and
// reports the errors over the 48 hours after them: the figures that the doc comments of this package state.
func BenchmarkM4(b *testing.B) {
	train, test := hours(b, "train"), hours(b, "test")
	week := [2]int{24, 168}
	day := smoothing.HoltWinters{Period: 24}
	for _, model := range []forecast.Model{
		day,
		smoothing.HoltWinters{Period: 24, Trend: smoothing.DampedTrend},
		smoothing.HoltWinters{Period: 24, Trend: smoothing.NoTrend},
		smoothing.HoltWinters{Period: 24, Criterion: smoothing.Criterion{Horizon: 24}},
		smoothing.HoltWinters{Period: 24, Trend: smoothing.DampedTrend, Criterion: smoothing.Criterion{Horizon: 24}},
		smoothing.HoltWinters{Period: 24, Trend: smoothing.NoTrend, Criterion: smoothing.Criterion{Horizon: 24}},
		smoothing.HoltWinters{Period: 24, Trend: smoothing.DampedTrend, Criterion: smoothing.Criterion{Horizon: 48}},
		smoothing.DoubleSeasonal{Periods: week, Criterion: smoothing.Criterion{Horizon: 1}},
		smoothing.DoubleSeasonal{Periods: week},
		smoothing.DoubleSeasonal{Periods: week, Damped: true},
		smoothing.DoubleSeasonal{Periods: week, Damped: true, Criterion: smoothing.Criterion{Horizon: 48}},
		ets.Auto{Period: 24},
	} {
		b.Run(model.Name(), func(b *testing.B) {
			mase, smape, inside := 0.0, 0.0, 0.0
			for b.Loop() {
				mase, smape, inside = 0, 0, 0
				for i, values := range train {
					fitted, err := model.Fit(daily(values))
					if err != nil {
						b.Fatal(err)
					}
					e, s, c := score(values, test[i], fitted.Forecast(len(test[i])))
					n := float64(len(train))
					mase, smape, inside = mase+e/n, smape+s/n, inside+c/n
				}
			}
			b.ReportMetric(mase, "MASE")
			b.ReportMetric(smape, "sMAPE")
			b.ReportMetric(100*inside, "%in95")
		})
	}
}

// score is the mean absolute error over that of the day before, the symmetric percentage error, and the share of values
// inside the 95 % interval.
func score(past, coming []float64, f forecast.Forecast) (mase, smape, inside float64) {
	naive := 0.0
	for i := 24; i < len(past); i++ {
		naive += math.Abs(past[i]-past[i-24]) / float64(len(past)-24)
	}
	low, high := f.Quantile(0.025), f.Quantile(0.975)
	n := float64(len(coming))
	for i, y := range coming {
		point := math.Max(f.Point[i], 0)
		mase += math.Abs(y-point) / naive / n
		smape += 200 * math.Abs(y-point) / (math.Abs(y) + math.Abs(point)) / n
		if y >= low[i] && y <= high[i] {
			inside += 1 / n
		}
	}
	return mase, smape, inside
}

// hours reads the series of a file, one a line after its name.
func hours(b *testing.B, part string) [][]float64 {
	b.Helper()
	dir := os.Getenv("FOREWARM_DATA")
	if dir == "" {
		b.Skip("FOREWARM_DATA is unset: it names the folder with m4/hourly_even_train.csv.gz")
	}
	file, err := os.Open(filepath.Join(dir, "m4", "hourly_even_"+part+".csv.gz"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // Read only.
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		b.Fatal(err)
	}
	reader := csv.NewReader(unzipped)
	reader.FieldsPerRecord = -1
	rows, err := reader.ReadAll()
	if err != nil {
		b.Fatal(err)
	}
	out := make([][]float64, 0, len(rows))
	for _, row := range rows[1:] {
		var values []float64
		for _, field := range row[1:] {
			if v, err := strconv.ParseFloat(field, 64); err == nil && !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		out = append(out, values)
	}
	return out
}
