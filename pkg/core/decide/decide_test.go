package decide_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// window is a distribution with the given median and 95 % quantile, linear in the levels.
func window(median, q95 float64) windowpeak.Quantiles {
	var q windowpeak.Quantiles
	for i, level := range windowpeak.QuantileLevels() {
		q[i] = median + (level-0.5)/0.45*(q95-median)
	}
	return q
}

func input(observed, median, q95 float64) decide.Input {
	return decide.Input{
		Observed: observed, Quantiles: window(median, q95), Peak: windowpeak.Peak{Median: median, Spread: q95 - median},
	}
}

func TestDecide(t *testing.T) {
	quantile := decide.Settings{Quantile: 0.95}
	objective := decide.Settings{Late: 0.01, Target: 4, Lead: 5 * time.Minute}
	bounded := objective
	bounded.MaxCapacity = 110
	with := func(p decide.Settings, mode decide.Mode) decide.Settings {
		p.Mode = mode
		return p
	}
	tests := map[string]struct {
		settings decide.Settings
		inputs   []decide.Input
		want     float64
		floored  bool
	}{
		"a quantile serves that quantile": {quantile, []decide.Input{input(80, 100, 120)}, 120, false},
		"the observed demand is a floor":  {quantile, []decide.Input{input(150, 100, 120)}, 150, true},
		"without the floor it is not": {
			with(quantile, decide.Forecast), []decide.Input{input(150, 100, 120)}, 120, false,
		},
		"a shadow serves the observed": {
			with(quantile, decide.Shadow), []decide.Input{input(80, 100, 120)}, 80, false,
		},
		"a quantile looks at the newest input only": {
			quantile, []decide.Input{input(80, 900, 990), input(80, 100, 120)}, 120, false,
		},
		"an objective adds k spreads to the median": {
			objective, []decide.Input{input(80, 100, 120)}, 100 + 1.3*20, false,
		},
		"an objective holds for half the lead time": {
			objective, []decide.Input{input(80, 200, 220), input(80, 100, 120)}, 200 + 1.3*20, false,
		},
		"an objective without a target is the default quantile": {
			decide.Settings{Late: 0.01, Lead: 5 * time.Minute}, []decide.Input{input(80, 100, 120)}, 120, false,
		},
		"without the floor an objective may fall below the observed": {
			with(objective, decide.Forecast), []decide.Input{input(500, 100, 120)}, 126, false,
		},
		"no more than all replicas sustain":       {bounded, []decide.Input{input(80, 100, 120)}, 110, false},
		"but for what is observed, as it is free": {bounded, []decide.Input{input(130, 100, 120)}, 130, true},
		"never negative": {
			with(quantile, decide.Forecast), []decide.Input{input(0, -9, -5)}, 0, false,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := decide.Decide(tt.settings, 1.3, tt.inputs)
			if math.Abs(got.Value-tt.want) > 1e-9 || got.Floored != tt.floored {
				t.Errorf("serves %v (floored %v), want %v (%v): %s", got.Value, got.Floored, tt.want, tt.floored,
					got.Reason())
			}
			if got.Reason() == "" {
				t.Error("no reason")
			}
		})
	}
}

// A value that the autoscaler would ignore is raised until it does not, but for a quantile, and for what history cannot justify.
func TestDeadBandIsPassed(t *testing.T) {
	objective := decide.Settings{Late: 0.01, Target: 4, Lead: 5 * time.Minute}
	shadow, quantile, most := objective, objective, objective
	shadow.Mode, quantile.Quantile, most.MaxCapacity = decide.Shadow, 0.95, 125
	forecast := input(80, 100, 120) // 126 with the headroom below
	floored, unjustified, barely := input(124, 100, 110), forecast, forecast
	unjustified.Limit = demand.Limit{Known: true, Forecast: 122}
	work := unjustified
	work.DeadlineFloor = 125
	barely.Limit = demand.Limit{Known: true, Forecast: 130}
	for name, tt := range map[string]struct {
		settings       decide.Settings
		input          decide.Input
		band           hpa.DeadBand
		value, ignored float64
		reason         string
	}{
		"within it": {
			objective, forecast,
			hpa.DeadBand{From: 120, To: 132},
			132.001, 126,
			"126 in total (32 replicas at 4 each); raised from 126 to 132.001, because the autoscaler's tolerance would ignore",
		},
		"above it": {objective, forecast, hpa.DeadBand{From: 110, To: 121}, 126, 0, ""},
		"below it": {objective, forecast, hpa.DeadBand{From: 130, To: 143}, 126, 0, ""},
		"none":     {objective, forecast, hpa.DeadBand{}, 126, 0, ""},
		"a shadow": {
			shadow, forecast,
			hpa.DeadBand{From: 120, To: 132},
			80, 126,
			"Forewarm would serve 132.001: the forecast peak within the lead window is 100, plus 26 headroom",
		},
		"the observed demand": {
			objective, floored, hpa.DeadBand{From: 120, To: 132}, 132.001, 124, "raised to 124, because the observed demand is higher than the forecast; raised from 124 to 132.001",
		},
		"a quantile": {quantile, forecast, hpa.DeadBand{From: 110, To: 121}, 120, 0, ""},
		"the most of all replicas": {
			most, forecast,
			hpa.DeadBand{From: 124, To: 136.4},
			136.401, 125,
			"limited from 126 to 125, the capacity at maxReplicas; raised from 125 to 136.401",
		},
		"work with a deadline, more than history can justify": {
			objective, work,
			hpa.DeadBand{From: 120, To: 132},
			132.001, 125,
			"raised to 125 so that work with a deadline finishes in time; raised from 125 to 132.001",
		},
		"more than can be justified": {
			objective, unjustified, hpa.DeadBand{From: 120, To: 132}, 122, 0, "the history justifies",
		},
		"to more than can be justified": {objective, barely, hpa.DeadBand{From: 120, To: 132}, 126, 0, "126 in total"},
	} {
		tt.input.DeadBand = tt.band
		got := decide.Decide(tt.settings, 1.3, []decide.Input{tt.input})
		if math.Abs(got.Value-tt.value) > 1e-9 || got.Ignored != tt.ignored ||
			!strings.Contains(got.Reason(), tt.reason) {
			t.Errorf("%s: %v in place of %v, want %v, %v: %s", name, got.Value, got.Ignored, tt.value, tt.ignored,
				got.Reason())
		}
	}
}

// With the floor, whatever the models say, forewarm never serves less than what was observed.
func TestFloorHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		settings := decide.Settings{
			Late:   0.001 + 0.1*rng.Float64(),
			Target: float64(rng.IntN(2)),
			Lead:   time.Duration(rng.IntN(1200)) * time.Second,
		}
		if rng.IntN(2) == 0 {
			settings.Quantile = windowpeak.LowestQuantile + rng.Float64()*(windowpeak.HighestQuantile-windowpeak.LowestQuantile)
		}
		inputs := make([]decide.Input, 1+rng.IntN(10))
		for i := range inputs {
			inputs[i] = input(200*rng.Float64(), 200*rng.Float64(), 400*rng.Float64())
		}
		got := decide.Decide(settings, 5*rng.Float64(), inputs)
		if newest := inputs[len(inputs)-1]; !(got.Value >= newest.Observed) {
			t.Fatalf("%+v serves %v below the observed %v", settings, got.Value, newest.Observed)
		}
	}
}

func TestRecall(t *testing.T) {
	for name, tt := range map[string]struct {
		lead, step time.Duration
		want       int
	}{
		"half of 5 minutes at 30 s": {5 * time.Minute, 30 * time.Second, 6},
		"a lead below the step":     {10 * time.Second, time.Minute, 1},
	} {
		if got := decide.HoldSteps(tt.lead, tt.step); got != tt.want {
			t.Errorf("%s: %d inputs, want %d", name, got, tt.want)
		}
	}
}

func TestQuantilesAt(t *testing.T) {
	q := window(100, 145) // one unit for each 1 %
	for level, want := range map[float64]float64{0: 55, 0.05: 55, 0.5: 100, 0.6: 110, 0.95: 145, 0.96: 146, 0.9999: 149.5} {
		if got := q.At(level); math.Abs(got-want) > 1e-9 {
			t.Errorf("at %v: %v, want %v", level, got, want)
		}
	}
	if !slices.IsSorted(windowpeak.QuantileLevels()) || windowpeak.QuantileLevels()[0] != windowpeak.LowestQuantile ||
		windowpeak.QuantileLevels()[len(windowpeak.QuantileLevels())-1] != windowpeak.HighestQuantile {
		t.Errorf("levels %v must ascend from %v to %v", windowpeak.QuantileLevels(), windowpeak.LowestQuantile,
			windowpeak.HighestQuantile)
	}
}

func TestAtHorizon(t *testing.T) {
	windows := []windowpeak.Window{
		{Horizon: time.Minute, Quantiles: window(10, 20)},
		{Horizon: 4 * time.Minute, Quantiles: window(20, 40)},
	}
	for name, tt := range map[string]struct {
		horizon time.Duration
		want    float64 // the median
		ok      bool
	}{
		"tabulated":                        {4 * time.Minute, 20, true},
		"half way in the square root":      {135 * time.Second, 15, true},
		"shorter than any is out of reach": {time.Second, 0, false},
		"longer than any is out of reach":  {time.Hour, 0, false},
	} {
		q, ok := windowpeak.QuantilesAtHorizon(windows, tt.horizon)
		if ok != tt.ok || math.Abs(q.At(0.5)-tt.want) > 1e-9 {
			t.Errorf("%s: median %v, %v; want %v, %v", name, q.At(0.5), ok, tt.want, tt.ok)
		}
	}
}

func TestParseSelection(t *testing.T) {
	got, err := decide.ParseSelector(map[string]string{
		"horizon": "1h30m", "quantile": "0.9", "model": "arima", "serve": "forecast",
	})
	want := decide.Overrides{Horizon: 90 * time.Minute, Quantile: 0.9, Model: "arima", Mode: decide.Forecast}
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if got, err := decide.ParseSelector(
		map[string]string{"badHours": "0.02"},
	); err != nil ||
		got != (decide.Overrides{BadHours: 0.02}) {
		t.Errorf("got %+v, %v; want 0.02 in bad hours", got, err)
	}
}

func TestParseSelectionRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		pairs map[string]string
		want  []string // in the message
	}{
		"an unknown key":         {map[string]string{"horizn": "5m"}, []string{`"horizn"`, "badHours, horizon, late, model, quantile, serve, variant"}},
		"a percent sign":         {map[string]string{"late": "1%"}, []string{`late="1%"`, "0.01"}},
		"all of the demand":      {map[string]string{"late": "1"}, []string{`late="1"`, "0.01"}},
		"a horizon without unit": {map[string]string{"horizon": "300"}, []string{"5m"}},
		"a horizon of zero":      {map[string]string{"horizon": "0s"}, []string{"not a duration"}},
		"a quantile of one":      {map[string]string{"quantile": "1"}, []string{"0.05 to 0.995"}},
		"not a number":           {map[string]string{"quantile": "NaN"}, []string{"quantile"}},
		"an unknown mode":        {map[string]string{"serve": "floo"}, []string{"floor, forecast, shadow"}},
		"an empty model":         {map[string]string{"model": ""}, []string{"model is empty"}},
		"two knobs":              {map[string]string{"quantile": "0.9", "late": "0.01"}, []string{"exclude each other"}},
		"two shares":             {map[string]string{"badHours": "0.01", "late": "0.01"}, []string{"late and badHours exclude each other"}},
		"bad hours in percent":   {map[string]string{"badHours": "1%"}, []string{`badHours="1%"`, "0.01"}},
		"no bad hours":           {map[string]string{"badHours": "0"}, []string{`badHours="0" is not a share`}},
		"the case of bad hours":  {map[string]string{"badhours": "0.01"}, []string{`unknown key "badhours"`}},
		"quantile and bad hours": {map[string]string{"quantile": "0.9", "badHours": "0.01"}, []string{"quantile and badHours exclude"}},
		"every problem at once":  {map[string]string{"a": "", "quantile": "x", "late": "y"}, []string{`"a"`, "quantile=", "late="}},
		"a long value is cut":    {map[string]string{"late": strings.Repeat("x", 5000)}, []string{"late="}},
	} {
		_, err := decide.ParseSelector(tt.pairs)
		if !errors.Is(err, decide.ErrSelector) {
			t.Errorf("%s: %v, want ErrSelection", name, err)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q lacks %q", name, err, want)
			}
		}
		if len(err.Error()) > 1000 {
			t.Errorf("%s: the message has %d bytes", name, len(err.Error()))
		}
	}
}

// What a request asks for is asked in place of the Forecast's quantile or cost ratio.
func TestSelectionApply(t *testing.T) {
	quantile, ratio := decide.Settings{Quantile: 0.95, Target: 4}, decide.Settings{CostRatio: 20, Target: 4}
	half, late := decide.Settings{Quantile: 0.5, Target: 4}, decide.Settings{Late: 0.02, Target: 4}
	byHours, shadow := late, decide.Overrides{Mode: decide.Shadow}
	byHours.BadHours = true
	floor := byHours
	floor.Mode = decide.Floor
	for name, tt := range map[string]struct {
		own       decide.Settings
		selection decide.Overrides
		want      decide.Settings
	}{
		"nothing keeps the settings":         {quantile, decide.Overrides{}, quantile},
		"a quantile replaces the quantile":   {quantile, decide.Overrides{Quantile: 0.5}, half},
		"an objective replaces the quantile": {quantile, decide.Overrides{Late: 0.02}, late},
		"a mode is set alongside a quantile": {quantile, shadow, decide.Settings{Quantile: 0.95, Target: 4, Mode: decide.Shadow}},
		"a mode is set alongside a ratio":    {ratio, shadow, decide.Settings{CostRatio: 20, Target: 4, Mode: decide.Shadow}},
		"a quantile replaces the ratio":      {ratio, decide.Overrides{Quantile: 0.5}, half},
		"an objective replaces the ratio":    {ratio, decide.Overrides{Late: 0.02}, late},
		"bad hours replace the ratio":        {ratio, decide.Overrides{BadHours: 0.02}, byHours},
		"bad hours replace late demand":      {late, decide.Overrides{BadHours: 0.02}, byHours},
		"late demand replaces bad hours":     {byHours, decide.Overrides{Late: 0.02}, late},
		"a mode keeps bad hours":             {byHours, decide.Overrides{Mode: decide.Floor}, floor},
	} {
		if diff := cmp.Diff(tt.want, tt.selection.Apply(tt.own)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func FuzzParseSelection(f *testing.F) {
	f.Add("horizon", "5m")
	f.Add("quantile", "0.95")
	f.Add("late", "1e-400")
	f.Add("badHours", "0.01")
	f.Fuzz(func(t *testing.T, key, value string) {
		s, err := decide.ParseSelector(map[string]string{key: value})
		if err != nil {
			return
		}
		if s.Horizon < 0 || math.IsNaN(s.Quantile) || s.Quantile > windowpeak.HighestQuantile ||
			!(s.Late >= 0 && s.Late < 1) ||
			!(s.BadHours >= 0 && s.BadHours < 1) {
			t.Errorf("%q=%q gives %+v", key, value, s)
		}
	})
}
