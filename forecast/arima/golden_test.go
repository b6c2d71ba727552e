package arima_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/testdata/golden"
)

type goldenFit struct {
	Coef       map[string]float64
	SE         golden.Values
	Sigma2     float64
	LogLik     float64
	AICc       float64
	Forecast   golden.Values
	ForecastSE golden.Values `json:"forecast_se"`
}

type goldenSpec struct {
	Series   string
	Order    [3]int
	Seasonal [3]int
	Period   int
	XReg     golden.Values
	ML       goldenFit
	CSSML    goldenFit `json:"CSS-ML"`
}

type goldenFixed struct {
	Order    [3]int
	Seasonal [3]int
	Period   int
	Fixed    golden.Values
	LogLik   float64
	Sigma2   float64
	Pred, SE golden.Values
}

type goldenData struct {
	Series map[string]struct {
		Values    golden.Values
		Frequency int
	}
	ARIMAFixed []goldenSpec           `json:"arima_fixed"`
	LogLik     map[string]goldenFixed `json:"loglik_at_fixed"`
	Missing    goldenFit              `json:"arima_missing_airp_log"`
	Gaps       struct {
		Index golden.Values `json:"na_idx"`
	} `json:"na_interp_airp"`
	AutoARIMA map[string]json.RawMessage `json:"auto_arima"`
	Tests     map[string]goldenDifferences
}

type goldenDifferences struct {
	KPSS    float64 `json:"kpss_mu"`
	NDiffs  int     `json:"ndiffs_kpss"`
	NSDiffs int     `json:"nsdiffs_seas"`
}

func (d goldenData) series(t *testing.T, name string) forecast.Series {
	t.Helper()
	if s, ok := d.Series[name]; ok {
		return daily(s.Values)
	}
	var transform func(float64) float64
	base := name
	for suffix, f := range map[string]func(float64) float64{"_log10": math.Log10, "_log": math.Log} {
		if n := len(name) - len(suffix); n > 0 && name[n:] == suffix {
			base, transform = name[:n], f
		}
	}
	s, ok := d.Series[base]
	if !ok || transform == nil {
		t.Fatalf("no series %q", name)
	}
	out := make([]float64, len(s.Values))
	for i, v := range s.Values {
		out[i] = transform(v)
	}
	return daily(out)
}

// named are a model's coefficients in R's order and under R's names.
func named(order arima.Order, c arima.Coefficients) (names []string, values []float64) {
	for i, v := range c.AR {
		names, values = append(names, fmt.Sprintf("ar%d", i+1)), append(values, v)
	}
	for i, v := range c.MA {
		names, values = append(names, fmt.Sprintf("ma%d", i+1)), append(values, v)
	}
	for i, v := range c.SAR {
		names, values = append(names, fmt.Sprintf("sar%d", i+1)), append(values, v)
	}
	for i, v := range c.SMA {
		names, values = append(names, fmt.Sprintf("sma%d", i+1)), append(values, v)
	}
	switch {
	case order.Constant && order.D+order.Seasonal.D > 0:
		names, values = append(names, "xr"), append(values, c.Constant) // R has a drift as a regressor.
	case order.Constant:
		names, values = append(names, "intercept"), append(values, c.Constant)
	}
	return names, values
}

// seasonal is the seasonal part of R's order.
func seasonal(order [3]int, period int) arima.Seasonal {
	if order == [3]int{} {
		return arima.Seasonal{}
	}
	return arima.Seasonal{P: order[0], D: order[1], Q: order[2], Period: period}
}

func TestMaximumLikelihoodAgainstR(t *testing.T) {
	data := golden.Load[goldenData](t)
	for _, spec := range data.ARIMAFixed {
		if len(spec.XReg) > 0 && spec.Order[1]+spec.Seasonal[1] == 0 {
			continue // A trend in addition to a mean; with one difference it is the drift.
		}
		t.Run(fmt.Sprint(spec.Series, spec.Order, spec.Seasonal), func(t *testing.T) {
			r := spec.ML
			if spec.CSSML.LogLik > r.LogLik {
				r = spec.CSSML
			}
			_, mean := r.Coef["intercept"]
			model := arima.ARIMA{
				P: spec.Order[0], D: spec.Order[1], Q: spec.Order[2], Constant: mean || len(spec.XReg) > 0,
				Seasonal: seasonal(spec.Seasonal, spec.Period),
			}
			fitted, err := model.Estimate(data.series(t, spec.Series))
			if err != nil {
				t.Fatal(err)
			}
			got, _ := fitted.DiffuseLogLikelihood(data.series(t, spec.Series), 1e6)
			t.Logf("log-likelihood %.6f, under R's prior %.6f, R %.6f", fitted.LogLikelihood(), got, r.LogLik)
			if got < r.LogLik-1e-3 {
				t.Errorf("log-likelihood %.6f, R finds %.6f", got, r.LogLik)
			}
			names, values := named(fitted.Order(), fitted.Coefficients())
			for i, name := range names {
				if d := math.Abs(values[i] - r.Coef[name]); d > math.Max(1e-3, 0.02*r.SE[i]) {
					t.Errorf("%s = %.6f, R %.6f, standard error %.4f", name, values[i], r.Coef[name], r.SE[i])
				}
			}
			next := fitted.Forecast(len(r.Forecast))
			for i := range r.Forecast {
				if d := math.Abs(next.Point[i] - r.Forecast[i]); d > 0.02*r.ForecastSE[i] {
					t.Errorf("step %d: point %v, R %v", i+1, next.Point[i], r.Forecast[i])
				}
				if ratio := next.StdErr[i] / r.ForecastSE[i]; math.Abs(ratio-1) > 0.01 {
					t.Errorf("step %d: standard error %v, R %v", i+1, next.StdErr[i], r.ForecastSE[i])
				}
			}
		})
	}
}

func TestExactLikelihoodAgainstR(t *testing.T) {
	data := golden.Load[goldenData](t)
	names := map[string]string{
		"lh_ar3": "lh", "lakehuron_arma11": "LakeHuron", "www_311": "WWWusage", "nile_011": "Nile",
		"presidents_missing_ar3": "presidents", "near_unit_root": "Nile",
		"airp_log_airline": "AirPassengers_log", "accdeaths": "USAccDeaths", "co2_111_112": "co2",
	}
	for name, series := range names {
		t.Run(name, func(t *testing.T) {
			r := data.LogLik[name]
			p, q := r.Order[0], r.Order[2]
			model := arima.ARIMA{P: p, D: r.Order[1], Q: q, Seasonal: seasonal(r.Seasonal, r.Period)}
			rest := r.Fixed
			take := func(n int) []float64 {
				part := rest[:n]
				rest = rest[n:]
				return part
			}
			model.Fixed = &arima.Coefficients{
				AR: take(p), MA: take(q), SAR: take(r.Seasonal[0]), SMA: take(r.Seasonal[2]),
			}
			if model.Constant = len(rest) > 0; model.Constant {
				model.Fixed.Constant = rest[0]
			}
			fitted, err := model.Estimate(data.series(t, series))
			if err != nil {
				t.Fatal(err)
			}
			got, sigma2 := fitted.DiffuseLogLikelihood(data.series(t, series), 1e6)
			within(t, "log-likelihood", got, r.LogLik, 1e-6)
			within(t, "sigma2", sigma2/r.Sigma2, 1, 1e-8)
			limit, _ := fitted.DiffuseLogLikelihood(data.series(t, series), 1e13)
			within(t, "log-likelihood", fitted.LogLikelihood(), limit, 1e-6)
			next := fitted.Forecast(len(r.Pred))
			for i := range r.Pred {
				within(t, "point", next.Point[i], r.Pred[i], 2e-5*r.SE[i])
				within(t, "standard error", next.StdErr[i]/r.SE[i]*math.Sqrt(sigma2/fitted.Sigma2()), 1, 1e-6)
			}
		})
	}
}

func TestMissingValuesAgainstR(t *testing.T) {
	data := golden.Load[goldenData](t)
	s := data.series(t, "AirPassengers_log")
	for _, i := range data.Gaps.Index {
		s.Values[int(i)-1] = math.NaN()
	}
	r := data.Missing
	fitted := estimate(t, arima.ARIMA{D: 1, Q: 1, Seasonal: arima.Seasonal{D: 1, Q: 1, Period: 12}}, s)
	got, sigma2 := fitted.DiffuseLogLikelihood(s, 1e6)
	t.Logf("log-likelihood %.6f, under R's prior %.6f, R %.6f", fitted.LogLikelihood(), got, r.LogLik)
	within(t, "log-likelihood", got, r.LogLik, 1e-3)
	within(t, "sigma2", sigma2/r.Sigma2, 1, 1e-3)
	names, values := named(fitted.Order(), fitted.Coefficients())
	for i, name := range names {
		within(t, name, values[i], r.Coef[name], math.Max(1e-3, 0.02*r.SE[i]))
	}
}

func TestAutoAgainstR(t *testing.T) {
	data := golden.Load[goldenData](t)
	lower := 0
	for name, raw := range data.AutoARIMA {
		var r struct {
			Default, Exact struct {
				Model string
				AICc  float64
				Order [7]int
			}
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
		best := r.Default.AICc
		if r.Exact.AICc != 0 && r.Exact.Order[5] == r.Default.Order[5] && r.Exact.Order[6] == r.Default.Order[6] {
			best = min(best, r.Exact.AICc)
		}
		period := data.Series[name].Frequency
		if period == 1 {
			period = 0
		}
		s := data.series(t, name)
		fitted, err := arima.Auto{Period: period}.Estimate(s)
		if err != nil {
			t.Fatal(err)
		}
		got, order := fitted.AICc(), fitted.Order()
		t.Logf("%s: %s, AICc %.4f; R %s, AICc %.4f", name, fitted.Name(), got, r.Default.Model, best)
		if order.D != r.Default.Order[5] || order.Seasonal.D != r.Default.Order[6] {
			t.Errorf("%s: %s has other differences than R's %s", name, fitted.Name(), r.Default.Model)
			continue
		}
		if got > best+0.01 {
			t.Errorf("%s: %s has AICc %.4f, R finds %s with %.4f", name, fitted.Name(), got, r.Default.Model, best)
		}
		if got < best-0.01 {
			lower++
		}
	}
	t.Logf("%d of %d are lower", lower, len(data.AutoARIMA))
	if lower < 3 {
		t.Errorf("%d are lower than R's, want 3", lower)
	}
}
