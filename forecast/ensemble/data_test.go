package ensemble_test

import (
	"compress/gzip"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/accuracy"
	"github.com/forewarm/forewarm/forecast/ensemble"
)

// table reads a file of the folder that FOREWARM_DATA names: records of numbers below a heading, from a column on. What
// is no number ends a record.
func table(t *testing.T, column int, path ...string) [][]float64 {
	t.Helper()
	dir := os.Getenv("FOREWARM_DATA")
	if dir == "" {
		t.Skip("FOREWARM_DATA is unset: it names the folder with " + filepath.Join(path...))
	}
	file, err := os.Open(filepath.Join(append([]string{dir}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() }) //nolint:errcheck // Read only.
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	reader := csv.NewReader(unzipped)
	reader.FieldsPerRecord = -1
	records, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out [][]float64
	for _, record := range records[1:] {
		var values []float64
		for _, field := range record[column:] {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				break
			}
			values = append(values, v)
		}
		out = append(out, values)
	}
	return out
}

// Every fortieth of the M4 competition's hourly series of even number. On all 207 Auto has a MASE of .65 and covers .95
// with its 95 % interval, where the seasonal naive has 1.15.
func TestM4Hourly(t *testing.T) {
	train := table(t, 1, "m4", "hourly_even_train.csv.gz")
	test := table(t, 1, "m4", "hourly_even_test.csv.gz")
	mase, within, n := 0.0, 0, 0
	for i := 0; i < len(train); i += 40 {
		f := estimate(t, ensemble.Auto{Seasons: []int{24, 168}, Horizon: 48}, train[i]).Forecast(48)
		lower, upper := f.Quantile(0.025), f.Quantile(0.975)
		scaled, err := accuracy.MASE(test[i], f.Point, train[i], 24)
		if err != nil {
			t.Fatal(err)
		}
		mase += scaled
		n++
		for h, y := range test[i] {
			if lower[h] <= y && y <= upper[h] {
				within++
			}
		}
	}
	mase /= float64(n)
	coverage := float64(within) / float64(48*n)
	t.Logf("%d series: MASE %.3f, coverage of 95 %% %.3f", n, mase, coverage)
	if mase > 0.70 || coverage < 0.93 || coverage > 0.995 {
		t.Errorf("MASE %.3f, want at most 0.70; coverage %.3f, want 0.93 to 0.995", mase, coverage)
	}
}

// The minutes of a day of a multimodal model's requests, live after six hours, at five steps ahead.
func TestTrace(t *testing.T) {
	var values []float64
	for _, row := range table(t, 1, "traces", "servegen_mm-image_requests_per_minute_resampled.csv.gz") {
		values = append(values, row[0])
	}
	const first, h = 360, 5
	auto := ensemble.Auto{Horizons: []int{h}, Quantiles: []float64{0.5, 0.95}}
	fitted, err := auto.Estimate(forecast.Series{Step: time.Minute, Values: values[:first]})
	if err != nil {
		t.Fatal(err)
	}
	points, upper := make([]float64, h), make([]float64, h)
	own, last, within := 0.0, 0.0, 0
	for i := first; i+h <= len(values); i++ {
		fitted.PointsTo(points)
		fitted.QuantileTo(upper, 0.95)
		y := values[i+h-1]
		own += math.Abs(y - points[h-1])
		last += math.Abs(y - values[i-1])
		if y <= upper[h-1] {
			within++
		}
		fitted.Update(values[i])
	}
	coverage := float64(within) / float64(len(values)-first-h+1)
	t.Logf("MAE %.3f of the last value's, coverage %.3f", own/last, coverage)
	if own > 0.85*last || coverage < 0.93 || coverage > 0.97 {
		t.Errorf("MAE %.3f of the last value's, want at most 0.85; coverage %.3f, want 0.93 to 0.97", own/last,
			coverage)
	}
}
