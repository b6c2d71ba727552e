package ets_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/forecast/smoothing/ets"
	"github.com/forewarm/forewarm/testdata/classic"
	"github.com/forewarm/forewarm/testdata/golden"
)

// goldenETS is a model of R's (package forecast, ets).
type goldenETS struct {
	Method       string
	Par          map[string]float64
	LogLik, AICc float64
	MSE, Sigma2  float64
	// Last are level, trend and season at the end, the season of the coming step last.
	Last       golden.Values `json:"last_states"`
	Mean, Hi95 []float64
}

type goldenData struct {
	Series map[string]struct {
		Values    []float64
		Frequency int
	}
	Auto  map[string]goldenETS `json:"ets_auto"`
	Fixed map[string]goldenETS `json:"ets_fixed"`
	AAdA  goldenETS            `json:"ets_AAdA_fixed"`
}

// model is the one of R's name, on a series of the frequency. False means that something multiplies.
func (g goldenETS) model(frequency int) (ets.Model, bool) {
	for _, m := range six(frequency) {
		if name, _, _ := strings.Cut(m.Name(), "["); name == g.Method {
			return m, true
		}
	}
	return ets.Model{}, false
}

// fixed is the model at R's parameters and starting states. It leaves out the coming step's season, as they sum to 0.
func (g goldenETS) fixed(m ets.Model, values []float64) (*ets.Fitted, error) {
	season := make([]float64, m.Period)
	for i := range m.Period - 1 {
		s := g.Par[fmt.Sprintf("s%d", i)]
		season[m.Period-1-i] = s
		season[0] -= s
	}
	p := ets.Parameters{Alpha: g.Par["alpha"], Beta: g.Par["beta"], Gamma: g.Par["gamma"], Phi: 1}
	if phi, damped := g.Par["phi"]; damped {
		p.Phi = phi
	}
	return m.Fixed(p, g.Par["l"], g.Par["b"], season, daily(values))
}

// TestAgainstR has R's likelihoods, states and forecasts at its parameters, and wants a fit as likely as R's.
func TestAgainstR(t *testing.T) {
	data := golden.Load[goldenData](t)
	cases := data.Fixed
	data.AAdA.Method = "ETS(A,Ad,A)"
	cases["USAccDeaths|golden2"] = data.AAdA
	compared := 0
	for name, r := range cases {
		base, _, _ := strings.Cut(name, "|")
		s := data.Series[base]
		model, found := r.model(s.Frequency)
		if !found {
			continue
		}
		compared++
		t.Run(name, func(t *testing.T) {
			fixed, err := r.fixed(model, s.Values)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, fixed, r, float64(len(s.Values)))
			compareForecast(t, model, fixed, r)
			if r.AICc != 0 {
				asLikely(t, model, s.Values, r.AICc)
			}
		})
	}
	for name, r := range data.Auto { // Where R, too, chooses additive errors and seasons.
		s := data.Series[name]
		if _, found := r.model(s.Frequency); found {
			compared++
			asLikely(t, ets.Auto{Period: s.Frequency}, s.Values, r.AICc)
		}
	}
	if compared != 31+4 {
		t.Errorf("%d models compared, want 31 and 4 choices", compared)
	}
}

func compare(t *testing.T, fixed *ets.Fitted, r goldenETS, n float64) {
	t.Helper()
	variance := fixed.Deviation() * fixed.Deviation()
	relative(t, "log-likelihood", fixed.LogLikelihood(), r.LogLik, 1e-10)
	relative(t, "mean square", variance, r.MSE, 1e-10)
	for i, s := range fixed.States() {
		if len(r.Last) > 0 {
			relative(t, "state", s, r.Last[i], 1e-8)
		}
	}
	if r.Sigma2 > 0 {
		// Here no parameter counts as estimated; R's variance has its degrees of freedom.
		k := float64(len(r.Par))
		relative(t, "variance", variance, r.Sigma2*(n-k)/n, 1e-9)
		fixed.SetDeviation(math.Sqrt(r.Sigma2))
	}
}

// compareForecast passes over what R counts for ETS(A,N,A): a season as passed one step early. TestMomentsAgainstPaths
// has it against simulation.
func compareForecast(t *testing.T, model ets.Model, fixed *ets.Fitted, r goldenETS) {
	t.Helper()
	early := model.Trend == ets.NoTrend && model.Period > 0
	next := fixed.Forecast(len(r.Mean))
	for i, want := range r.Mean {
		relative(t, "point", next.Point[i], want, 1e-10)
	}
	for i, hi := range r.Hi95 {
		if early && (i+1)%model.Period == 0 {
			continue
		}
		relative(t, "standard error", next.StdErr[i], (hi-r.Mean[i])/1.959963984540054, 1e-9)
	}
}

// TestClassic has R's figures (package forecast 8.20, ets) of series that stand in the repository.
func TestClassic(t *testing.T) {
	for name, aicc := range map[string]float64{"LakeHuron": 396.933053861319, "WWWusage": 718.634206204236} {
		s := classic.Series(t, name)
		asLikely(t, ets.Auto{}, s.Values, aicc)
	}
	s := classic.Series(t, "LakeHuron")
	fixed, err := ets.Model{}.Fixed(ets.Parameters{Alpha: 0.999899748952018, Phi: 1}, 580.38238900249, 0, nil, s)
	if err != nil {
		t.Fatal(err)
	}
	relative(t, "log-likelihood", fixed.LogLikelihood(), -195.338867356192, 1e-10)
}
