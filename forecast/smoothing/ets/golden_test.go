package ets_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/smoothing/ets"
	"github.com/forewarm/forewarm/testdata/golden"
)

// states are R's: level, trend and season, the season of the coming step last. One state alone is a number.
type states []float64

func (s *states) UnmarshalJSON(b []byte) error { return unmarshalList(b, (*[]float64)(s)) }

type goldenETS struct {
	Method       string
	Par          map[string]float64
	LogLik, AICc float64
	MSE, Sigma2  float64
	First        states `json:"first_states"`
	Last         states `json:"last_states"`
	Mean         []float64
	Hi80, Hi95   []float64
	Lo95         []float64
}

type goldenData struct {
	Series map[string]struct {
		Values    []float64
		Frequency int
	}
	Auto  map[string]goldenETS       `json:"ets_auto"`
	Fixed map[string]goldenETS       `json:"ets_fixed"`
	MAM   goldenETS                  `json:"ets_MAM_fixed"`
	AAdA  goldenETS                  `json:"ets_AAdA_fixed"`
	Sim   struct{ Lo, Hi []float64 } `json:"ets_MAM_sim95"`
}

func figures(t *testing.T) goldenData {
	t.Helper()
	var data goldenData
	golden.Load(t, &data)
	return data
}

func daily(values []float64) forecast.Series {
	return forecast.Series{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Step: 24 * time.Hour, Values: values}
}

// spec reads the components from R's name of a method.
func spec(t *testing.T, method string) ets.Spec {
	t.Helper()
	for e := ets.AdditiveError; e <= ets.MultiplicativeError; e++ {
		for trend := ets.NoTrend; trend <= ets.DampedTrend; trend++ {
			for season := ets.NoSeason; season <= ets.MultiplicativeSeason; season++ {
				if s := (ets.Spec{Error: e, Trend: trend, Season: season}); s.String() == method {
					return s
				}
			}
		}
	}
	t.Fatalf("no model %q", method)
	return ets.Spec{}
}

// model is R's, with its parameters and starting states.
func (g goldenETS) model(t *testing.T, period int) ets.Model {
	t.Helper()
	out := ets.Model{Spec: spec(t, g.Method), Period: period, Start: &ets.States{Level: g.Par["l"], Trend: g.Par["b"]}}
	for name, at := range map[string]**float64{
		"alpha": &out.Alpha, "beta": &out.Beta, "gamma": &out.Gamma, "phi": &out.Phi,
	} {
		if v, found := g.Par[name]; found {
			*at = &v
		}
	}
	if out.Season == ets.NoSeason {
		return out
	}
	// R leaves out the last of them, which is the coming step's: they sum to 0 or to the period.
	season := make([]float64, period)
	if out.Season == ets.MultiplicativeSeason {
		season[0] = float64(period)
	}
	for i := range period - 1 {
		s := g.Par[fmt.Sprintf("s%d", i)]
		season[period-1-i] = s
		season[0] -= s
	}
	out.Start.Season = season
	return out
}

func relative(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Max(math.Abs(want), 1e-300)) {
		t.Errorf("%s = %.12g, want %.12g within %.1g of it", what, got, want, tolerance)
	}
}

func TestFixedAgainstR(t *testing.T) {
	data := figures(t)
	cases := data.Fixed
	data.MAM.Method, data.AAdA.Method = "ETS(M,A,M)", "ETS(A,Ad,A)"
	cases["AirPassengers|golden2"], cases["USAccDeaths|golden2"] = data.MAM, data.AAdA
	for name, r := range cases {
		t.Run(name, func(t *testing.T) {
			base, _, _ := strings.Cut(name, "|")
			s := data.Series[base]
			fitted, err := r.model(t, s.Frequency).Estimate(daily(s.Values))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, fitted, r, float64(len(s.Values)))
		})
	}
}

func compare(t *testing.T, fitted *ets.Fitted, r goldenETS, n float64) {
	t.Helper()
	relative(t, "log-likelihood", fitted.Likelihood().Log, r.LogLik, 1e-10)
	relative(t, "SSE", fitted.Likelihood().SSE, n*r.MSE, 1e-10)
	for i, s := range lastStates(fitted) {
		if len(r.Last) > 0 {
			relative(t, "state", s, r.Last[i], 1e-8)
		}
	}
	if r.Sigma2 > 0 {
		// Here no parameter counts as estimated; R's variance has its degrees of freedom.
		k := float64(len(r.Par))
		relative(t, "variance", fitted.Deviation()*fitted.Deviation(), r.Sigma2*(n-k)/n, 1e-9)
		fitted.SetDeviation(math.Sqrt(r.Sigma2))
	}
	compareForecast(t, fitted, r)
}

// compareForecast knows two places where R departs from the models: with a damped trend and a season that multiplies it
// fades the trend from the second step ahead on, though not in the likelihood, so its figures are near only; and for
// ETS(A,N,A) it counts a season as passed one step early. TestMomentsAgainstPaths has these against simulation.
func compareForecast(t *testing.T, fitted *ets.Fitted, r goldenETS) {
	t.Helper()
	spec := fitted.Spec()
	exact, near := 1e-10, 1e-9
	if spec.Season == ets.MultiplicativeSeason && spec.Trend == ets.DampedTrend {
		fitted.SetTrend(fitted.States().Trend / fitted.Parameters().Phi)
		exact, near = 1e-4, 0.02
	}
	early := spec == ets.Spec{Season: ets.AdditiveSeason}
	next := fitted.Forecast(len(r.Mean))
	for i, want := range r.Mean {
		relative(t, "point", next.Point[i], want, exact)
	}
	for i, hi := range r.Hi95 {
		if early && (i+1)%len(fitted.States().Season) == 0 {
			continue
		}
		relative(t, "standard error", next.StdErr[i], (hi-r.Mean[i])/1.959963984540054, near)
	}
}

// lastStates are those of the origin in R's order.
func lastStates(fitted *ets.Fitted) []float64 {
	s := fitted.States()
	out := []float64{s.Level}
	if fitted.Spec().Trend != ets.NoTrend {
		out = append(out, s.Trend)
	}
	for i := range s.Season {
		out = append(out, s.Season[len(s.Season)-1-i])
	}
	return out
}

func TestAutoAgainstR(t *testing.T) {
	data := figures(t)
	for name, r := range data.Auto {
		t.Run(name, func(t *testing.T) {
			s := data.Series[name]
			chosen, err := ets.Auto{Period: s.Frequency}.Estimate(daily(s.Values))
			if err != nil {
				t.Fatal(err)
			}
			got := chosen.Likelihood().AICc()
			t.Logf("%s, AICc %.3f; R %s, %.3f", chosen.Fitted.Name(), got, r.Method, r.AICc)
			if got > r.AICc+0.1 {
				t.Errorf("%s with AICc %.3f, R has %s with %.3f", chosen.Fitted.Name(), got, r.Method, r.AICc)
			}
		})
	}
}

func TestSimulationAgainstR(t *testing.T) {
	data := figures(t)
	// The trend that R chose for its paths is damped.
	r := data.Fixed["AirPassengers|MAM|TRUE"]
	model := r.model(t, 12)
	model.Simulation = ets.Simulation{Paths: 20000, Seed: 1}
	s := data.Series["AirPassengers"]
	fitted, err := model.Estimate(daily(s.Values))
	if err != nil {
		t.Fatal(err)
	}
	fitted.SetDeviation(math.Sqrt(r.Sigma2))
	next := fitted.Forecast(len(data.Sim.Lo))
	lo, hi := next.Quantile(0.025), next.Quantile(0.975)
	for i := range lo {
		relative(t, "2.5 %", lo[i], data.Sim.Lo[i], 0.02)
		relative(t, "97.5 %", hi[i], data.Sim.Hi[i], 0.02)
	}
}
