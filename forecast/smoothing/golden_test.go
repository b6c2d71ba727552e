package smoothing_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/testdata/golden"
)

type goldenHoltWinters struct {
	Alpha, Beta, Gamma float64
	Coef               map[string]float64
	SSE                float64
	Mean               []float64
	HI95               []float64
	Series             string
}

type goldenData struct {
	Series map[string]struct {
		Values    golden.Values
		Frequency int
	}
	HoltWinters map[string]goldenHoltWinters `json:"holtwinters"`
	Fixed       goldenHoltWinters            `json:"holtwinters_fixed_add"`
	SES         struct {
		X                 []float64
		Alpha, SSE, Level float64
	} `json:"ses_fixed"`
	Holt struct {
		X                []float64
		Alpha, Beta, SSE float64
		Coef             []float64
	} `json:"holt_fixed"`
}

func (d goldenData) series(name string) (forecast.Series, int) {
	s := d.Series[name]
	return daily(s.Values), s.Frequency
}

// additive are R's searches whose season is added.
func (d goldenData) additive() map[string]goldenHoltWinters {
	out := map[string]goldenHoltWinters{}
	for name, r := range d.HoltWinters {
		if base, added := strings.CutSuffix(name, "|additive"); added {
			r.Series = base
			out[name] = r
		}
	}
	return out
}

// agree compares a fit whose parameters are R's with R's.
func agree(t *testing.T, fitted *smoothing.Fitted, r goldenHoltWinters) {
	t.Helper()
	within(t, "SSE", fitted.SSE()/r.SSE, 1, 1e-10)
	spread := math.Sqrt(r.SSE)
	within(t, "level", fitted.Level(), r.Coef["a"], 1e-9*spread)
	within(t, "trend", fitted.Trend(), r.Coef["b"], 1e-9*spread)
	for i, s := range fitted.Season() {
		within(t, "season", s, r.Coef["s"+strconv.Itoa(i+1)], 1e-8*spread)
	}
	next := fitted.Forecast(len(r.Mean))
	for i, mean := range r.Mean {
		within(t, "point", next.Point[i], mean, 1e-8*spread)
	}
	// R's intervals take the variance of the errors about their mean where ours take it about 0 and count the
	// parameters; the shape over the horizon is the same.
	for i := range r.HI95 {
		got := next.StdErr[i] / next.StdErr[0]
		within(t, "standard error's growth", got, (r.HI95[i]-r.Mean[i])/(r.HI95[0]-r.Mean[0]), 1e-6)
	}
}

func TestHoltWintersFixedAgainstR(t *testing.T) {
	data := golden.Load[goldenData](t)
	cases := data.additive()
	cases["co2, fixed"] = data.Fixed
	for name, r := range cases {
		t.Run(name, func(t *testing.T) {
			series, period := data.series(r.Series)
			model := smoothing.HoltWinters{Period: period, Alpha: &r.Alpha, Beta: &r.Beta, Gamma: &r.Gamma}
			agree(t, estimate(t, model, series), r)
		})
	}
}

func TestHoltWintersSearchAgainstR(t *testing.T) {
	data := golden.Load[goldenData](t)
	for name, r := range data.additive() {
		t.Run(name, func(t *testing.T) {
			series, period := data.series(r.Series)
			fitted := estimate(t, smoothing.HoltWinters{Period: period}, series)
			t.Logf("SSE %.8g with %+v; R %.8g with %.4f %.4f %.4f",
				fitted.SSE(), fitted.Parameters(), r.SSE, r.Alpha, r.Beta, r.Gamma)
			if fitted.SSE() > r.SSE*(1+1e-6) {
				t.Errorf("SSE %v, R finds %v", fitted.SSE(), r.SSE)
			}
		})
	}
}

func TestFixedSmoothingAgainstR(t *testing.T) {
	data := golden.Load[goldenData](t)
	ses := estimate(t, smoothing.SES{Alpha: &data.SES.Alpha}, daily(data.SES.X))
	within(t, "SES level", ses.Level(), data.SES.Level, 1e-9)
	within(t, "SES SSE", ses.SSE(), data.SES.SSE, 1e-9)
	holt := estimate(t, smoothing.Holt{Alpha: &data.Holt.Alpha, Beta: &data.Holt.Beta}, daily(data.Holt.X))
	within(t, "Holt SSE", holt.SSE(), data.Holt.SSE, 1e-9)
	within(t, "Holt level", holt.Level(), data.Holt.Coef[0], 1e-9)
	within(t, "Holt trend", holt.Trend(), data.Holt.Coef[1], 1e-9)
}
