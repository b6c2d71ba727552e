package diagnose_test

import (
	"math"
	"testing"

	"github.com/forewarm/forewarm/forecast/diagnose"
	"github.com/forewarm/forewarm/testdata/golden"
)

type goldenTest struct {
	KPSS     float64   `json:"kpss_mu"`
	KPSSLine float64   `json:"kpss_tau"`
	NDiffs   int       `json:"ndiffs_kpss"`
	NSDiffs  int       `json:"nsdiffs_seas"`
	ACF      []float64 `json:"acf12"`
	LjungBox float64   `json:"ljungbox10"`
}

type goldenData struct {
	Series map[string]struct {
		Values    golden.Values
		Frequency int
	}
	Tests     map[string]goldenTest
	AutoARIMA map[string]struct {
		NDiffs  int `json:"ndiffs_kpss"`
		NSDiffs int `json:"nsdiffs_seas"`
	} `json:"auto_arima"`
	LakeACF  []float64 `json:"acf_lake"`
	LakePACF []float64 `json:"pacf_lake"`
}

// figures are R's, from the folder that FOREWARM_DATA names.
func figures(t *testing.T) goldenData {
	t.Helper()
	var data goldenData
	golden.Load(t, &data)
	return data
}

func (d goldenData) values(name string) []float64 { return d.Series[name].Values }

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestStationarityAgainstR(t *testing.T) {
	data := figures(t)
	for name, r := range data.Tests {
		values := data.values(name)
		level, _ := diagnose.KPSS(values, diagnose.Level)
		within(t, name+" KPSS around a level", level, r.KPSS, 1e-9)
		line, _ := diagnose.KPSS(values, diagnose.Line)
		within(t, name+" KPSS around a line", line, r.KPSSLine, 1e-9)
		if got := diagnose.Differences(values, 2); got != r.NDiffs {
			t.Errorf("%s: %d differences, R %d", name, got, r.NDiffs)
		}
		within(t, name+" Ljung-Box", diagnose.LjungBox(values, 10)/r.LjungBox, 1, 1e-9)
		for lag, got := range diagnose.ACF(values, len(r.ACF)-1) {
			within(t, name+" ACF", got, r.ACF[lag], 1e-9)
		}
	}
}

func TestDifferencesAgainstR(t *testing.T) {
	data := figures(t)
	for name, r := range data.AutoARIMA {
		values, period := data.values(name), data.Series[name].Frequency
		if got := diagnose.SeasonalDifferences(values, period); got != r.NSDiffs {
			t.Errorf("%s: %d seasonal differences, R %d", name, got, r.NSDiffs)
		}
		if got := diagnose.Differences(values, 2); got != r.NDiffs {
			t.Errorf("%s: %d differences, R %d", name, got, r.NDiffs)
		}
	}
}

func TestCorrelationAgainstR(t *testing.T) {
	data := figures(t)
	lake := data.values("LakeHuron")
	for lag, got := range diagnose.ACF(lake, len(data.LakeACF)-1) {
		within(t, "ACF", got, data.LakeACF[lag], 1e-9)
	}
	for i, got := range diagnose.PACF(lake, len(data.LakePACF)) {
		within(t, "PACF", got, data.LakePACF[i], 1e-9)
	}
}
