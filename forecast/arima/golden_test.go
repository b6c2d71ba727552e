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

// numbers is a list in which null is a gap.
type numbers []float64

func (n *numbers) UnmarshalJSON(b []byte) error {
	var list []*float64
	if err := json.Unmarshal(b, &list); err != nil {
		var one float64
		if err := json.Unmarshal(b, &one); err != nil {
			return err
		}
		*n = numbers{one}
		return nil
	}
	for _, v := range list {
		if v == nil {
			*n = append(*n, math.NaN())
		} else {
			*n = append(*n, *v)
		}
	}
	return nil
}

type goldenFit struct {
	Coef       map[string]float64
	SE         numbers
	Sigma2     float64
	LogLik     float64
	AICc       float64
	Forecast   numbers
	ForecastSE numbers `json:"forecast_se"`
}

type goldenSpec struct {
	Series   string
	Order    [3]int
	Seasonal [3]int
	XReg     any
	ML       goldenFit
	CSSML    goldenFit `json:"CSS-ML"`
}

type goldenFixed struct {
	Order    [3]int
	Seasonal [3]int
	Fixed    numbers
	LogLik   float64
	Sigma2   float64
	Pred, SE numbers
}

type goldenData struct {
	Series     map[string]struct{ Values numbers }
	ARIMAFixed []goldenSpec               `json:"arima_fixed"`
	LogLik     map[string]goldenFixed     `json:"loglik_at_fixed"`
	AutoARIMA  map[string]json.RawMessage `json:"auto_arima"`
}

// figures are R's, from the folder that FOREWARM_DATA names.
func figures(t *testing.T) goldenData {
	t.Helper()
	var data goldenData
	golden.Load(t, &data)
	return data
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
	if order.Constant {
		names, values = append(names, "intercept"), append(values, c.Constant)
	}
	return names, values
}

func TestMaximumLikelihoodAgainstR(t *testing.T) {
	data := figures(t)
	for _, spec := range data.ARIMAFixed {
		if spec.Seasonal != [3]int{} || spec.XReg != nil {
			continue
		}
		t.Run(fmt.Sprint(spec.Series, spec.Order), func(t *testing.T) {
			r := spec.ML
			if spec.CSSML.LogLik > r.LogLik {
				r = spec.CSSML
			}
			_, constant := r.Coef["intercept"]
			model := arima.ARIMA{P: spec.Order[0], D: spec.Order[1], Q: spec.Order[2], Constant: constant}
			fitted, err := model.Estimate(data.series(t, spec.Series))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("log-likelihood %.6f, R %.6f", fitted.LogLikelihood(), r.LogLik)
			if got := fitted.LogLikelihood(); got < r.LogLik-1e-3 {
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
	data := figures(t)
	names := map[string]string{
		"lh_ar3": "lh", "lakehuron_arma11": "LakeHuron", "www_311": "WWWusage", "nile_011": "Nile",
		"presidents_missing_ar3": "presidents", "near_unit_root": "Nile",
	}
	for name, series := range names {
		t.Run(name, func(t *testing.T) {
			r := data.LogLik[name]
			p, q := r.Order[0], r.Order[2]
			model := arima.ARIMA{P: p, D: r.Order[1], Q: q, Constant: len(r.Fixed) > p+q}
			model.Fixed = &arima.Coefficients{AR: r.Fixed[:p], MA: r.Fixed[p : p+q]}
			if model.Constant {
				model.Fixed.Constant = r.Fixed[p+q]
			}
			fitted, err := model.Estimate(data.series(t, series))
			if err != nil {
				t.Fatal(err)
			}
			// R starts differenced models from a diffuse prior of variance 1e6, which is good to about 1e-6 of the
			// variance; ours conditions on the first values.
			tolerance := 1e-6
			if r.Order[1] > 0 {
				tolerance = 1e-4
			}
			within(t, "log-likelihood", fitted.LogLikelihood(), r.LogLik, tolerance)
			within(t, "sigma2", fitted.Sigma2()/r.Sigma2, 1, 2e-6)
			next := fitted.Forecast(len(r.Pred))
			for i := range r.Pred {
				within(t, "point", next.Point[i], r.Pred[i], 1e-5*r.SE[i])
				within(t, "standard error", next.StdErr[i]/r.SE[i], 1, 1e-5)
			}
		})
	}
}

func TestAutoAgainstR(t *testing.T) {
	data := figures(t)
	for _, name := range []string{"lynx", "WWWusage", "LakeHuron", "Nile", "lh", "sunspot_year"} {
		var r struct {
			Default struct {
				Model string
				AICc  float64
			}
		}
		if err := json.Unmarshal(data.AutoARIMA[name], &r); err != nil {
			t.Fatal(err)
		}
		fitted, err := arima.Auto{}.Estimate(data.series(t, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %s, AICc %.4f; R %s, AICc %.4f",
			name, fitted.Order(), fitted.AICc(), r.Default.Model, r.Default.AICc)
		if fitted.AICc() > r.Default.AICc+1e-3 {
			t.Errorf("%s: %s has AICc %.4f, R finds %s with %.4f",
				name, fitted.Order(), fitted.AICc(), r.Default.Model, r.Default.AICc)
		}
	}
}
