package snapshot_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

func TestAnswer(t *testing.T) {
	e := snapshottest.Ready(snapshottest.Key("llama"))
	own := e.Decision.Value
	of := func(s decide.Overrides) float64 {
		t.Helper()
		answer, err := e.Answer(s, snapshottest.Now())
		if err != nil {
			t.Fatal(err)
		}
		if !answer.Time.Equal(e.SampleTime) {
			t.Errorf("time %s, want that of the sample, %s", answer.Time, e.SampleTime)
		}
		return answer.Value
	}
	if got := of(decide.Overrides{}); got != own {
		t.Errorf("without a selector %v, want the Forecast's own %v", got, own)
	}
	if got := of(decide.Overrides{Quantile: e.Settings.Quantile}); got != own {
		t.Errorf("its own quantile %v, want %v", got, own)
	}
	if got := of(decide.Overrides{Horizon: e.Window}); got != own {
		t.Errorf("its own horizon %v, want %v", got, own)
	}
	if got := of(decide.Overrides{Model: e.Model}); got != own {
		t.Errorf("its own model %v, want %v", got, own)
	}
	if got := of(decide.Overrides{Mode: decide.Shadow}); got != e.Observed {
		t.Errorf("shadow mode %v, want the observed %v", got, e.Observed)
	}
	low, high := of(decide.Overrides{Quantile: 0.8}), of(decide.Overrides{Quantile: 0.99})
	if !(low < own && own < high) {
		t.Errorf("quantiles 0.8, 0.95, 0.99 serve %v, %v, %v", low, own, high)
	}
	longest := e.Candidates[0].Windows[len(e.Candidates[0].Windows)-1].Horizon
	if far := of(decide.Overrides{Horizon: longest}); far <= own {
		t.Errorf("over %s %v, over the lead window %v: the longer maximum is no lower", longest, far, own)
	}
	if a, b := of(decide.Overrides{Model: "LAST-VALUE"}), of(decide.Overrides{Model: "last-value"}); a != b ||
		a == own {
		t.Errorf("the last value in capitals %v, in lower case %v, the Forecast's own %v", a, b, own)
	}
}

// For every selection the value is finite, not negative, and with mode Floor at least the observed one.
func TestAnswerIsAlwaysAQuantity(t *testing.T) {
	for _, e := range snapshottest.EveryState() {
		for _, model := range []string{"", "arima", "last-value", "holt-winters"} {
			for _, horizon := range []time.Duration{0, time.Minute, 7 * time.Minute, time.Hour} {
				for _, quantile := range []float64{0, windowpeak.LowestQuantile, 0.5, windowpeak.HighestQuantile} {
					s := decide.Overrides{Model: model, Horizon: horizon, Quantile: quantile}
					answer, err := e.Answer(s, snapshottest.Now())
					if err != nil {
						continue
					}
					if v := answer.Value; math.IsNaN(v) || math.IsInf(v, 0) || v < 0 || v < e.Decision.Observed {
						t.Errorf("%s with %+v: %v on %v observed", e.Key, s, v, e.Decision.Observed)
					}
				}
			}
		}
	}
}

func TestAnswerRefuses(t *testing.T) {
	ready := snapshottest.Ready(snapshottest.Key("llama"))
	now := snapshottest.Now()
	for name, tt := range map[string]struct {
		entry     *snapshot.ForecastSnapshot
		selection decide.Overrides
		now       time.Time
		err       error
		want      string
	}{
		"an unknown model":       {ready, decide.Overrides{Model: "prophet"}, now, decide.ErrSelector, "arima"},
		"a horizon out of reach": {ready, decide.Overrides{Horizon: 99 * time.Hour}, now, decide.ErrSelector, "use 30s to 1h0m0s"},
		"a state without data":   {snapshottest.Pending(snapshottest.Key("a")), decide.Overrides{}, now, snapshot.ErrNotServing, ""},
		"an invalid object":      {snapshottest.Invalid(snapshottest.Key("a")), decide.Overrides{}, now, snapshot.ErrNotServing, ""},
		"a stale one":            {snapshottest.Stale(snapshottest.Key("a")), decide.Overrides{}, now, snapshot.ErrNotServing, ""},
		// The loop may be stuck. Then no entry is marked stale, and the time of the request decides.
		"a snapshot no one renews": {ready, decide.Overrides{}, ready.StaleAt, snapshot.ErrNotServing, "old"},
	} {
		_, err := tt.entry.Answer(tt.selection, tt.now)
		if !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %v with %q", name, err, tt.err, tt.want)
		}
	}
}

// With a cost ratio the cheapest headroom is served, unless a request selects a share or a quantile.
func TestAnswerAtACostRatio(t *testing.T) {
	e := snapshottest.WithCostRatio(snapshottest.Key("llama"))
	of := func(s decide.Overrides) float64 {
		answer, err := e.Answer(s, snapshottest.Now())
		if err != nil {
			t.Fatal(err)
		}
		return answer.Value
	}
	own := of(decide.Overrides{})
	if got := of(decide.Overrides{Mode: decide.Floor}); got != own {
		t.Errorf("its own mode serves %v, want %v", got, own)
	}
	if strict, lax := of(decide.Overrides{Late: 0.001}), of(decide.Overrides{Late: 0.1}); !(strict > own && own > lax) {
		t.Errorf("0.1 %%, the cheapest and 10 %% late serve %v, %v, %v", strict, own, lax)
	}
	share := *e
	share.Settings.CostRatio, share.Settings.Late = 0, 0.02
	answer, err := share.Answer(decide.Overrides{Mode: decide.Floor}, snapshottest.Now())
	if got := of(decide.Overrides{Late: 0.02}); err != nil || got != answer.Value {
		t.Errorf("late=0.02 serves %v, a Forecast that asks for it %v (%v)", got, answer.Value, err)
	}
	if got, want := of(decide.Overrides{Quantile: 0.95}), e.Inputs[len(e.Inputs)-1].Quantiles.At(0.95); got != want {
		t.Errorf("a quantile serves %v, want %v", got, want)
	}
}

// A request may limit late demand although the Forecast limits bad hours, and the other way round: each reads its own curve.
func TestAnswerForTheOtherKindOfObjective(t *testing.T) {
	byLate, byHours := snapshottest.WithObjective(
		snapshottest.Key("a"),
	), snapshottest.WithBadHours(
		snapshottest.Key("b"),
	)
	of := func(e *snapshot.ForecastSnapshot, s decide.Overrides) float64 {
		answer, err := e.Answer(s, snapshottest.Now())
		if err != nil {
			t.Fatal(err)
		}
		return answer.Value
	}
	// In both the own curve has 1 % at headroom 1.3, and the other one 3 %.
	for name, one := range map[string]struct {
		of         *snapshot.ForecastSnapshot
		own, other decide.Overrides
	}{
		"late":     {byLate, decide.Overrides{Late: 0.01}, decide.Overrides{BadHours: 0.03}},
		"badHours": {byHours, decide.Overrides{BadHours: 0.01}, decide.Overrides{Late: 0.03}},
	} {
		own, other := of(one.of, one.own), of(one.of, one.other)
		if math.Abs(own-other) > 1e-3 || own != of(one.of, decide.Overrides{}) {
			t.Errorf("%s: %v for its own 1 %%, %v for 3 %% of the other kind", name, own, other)
		}
		stricter := one.other
		stricter.Late, stricter.BadHours = stricter.Late/3, stricter.BadHours/3
		if more := of(one.of, stricter); !(more > own+1) {
			t.Errorf("%s: %v for its own 1 %%, %v for 1 %% of the other kind, which is less", name, own, more)
		}
	}
}

// With another headroom the autoscaler has other replicas, and another dead band. The mode changes nothing of it.
func TestTheDeadBandIsThatOfTheForecastsOwnObjective(t *testing.T) {
	e := snapshottest.WithObjective(snapshottest.Key("llama"))
	of := func(s decide.Overrides) float64 {
		answer, err := e.Answer(s, snapshottest.Now())
		if err != nil {
			t.Fatal(err)
		}
		return answer.Value
	}
	own, lax := of(decide.Overrides{Mode: decide.Forecast}), of(decide.Overrides{Late: 0.1})
	e.Inputs[len(e.Inputs)-1].DeadBand = hpa.DeadBand{From: lax - 1, To: own + 5}
	if got := of(decide.Overrides{Mode: decide.Forecast}); !(got > own+5) {
		t.Errorf("another mode serves %v, want more than %v", got, own+5)
	}
	if got := of(decide.Overrides{Late: 0.1}); got != lax {
		t.Errorf("another objective serves %v, want %v", got, lax)
	}
	if e.Inputs[len(e.Inputs)-1].DeadBand == (hpa.DeadBand{}) {
		t.Error("an answer changed the inputs")
	}
}

// While the fallback is served, every selection gets it: it has no models and no quantiles.
func TestFallbackAnswersEverySelection(t *testing.T) {
	e := snapshottest.FallingBack(snapshottest.Key("llama"))
	for _, s := range []decide.Overrides{{}, {Model: "arima"}, {Quantile: 0.5}, {Horizon: time.Minute}} {
		answer, err := e.Answer(s, snapshottest.Now())
		if err != nil || answer.Value != e.Decision.Value {
			t.Errorf("%+v: %+v, %v; want %v", s, answer, err, e.Decision.Value)
		}
	}
}

// A new series has candidates that are not fitted yet: their errors are not the answer to a selection.
func TestABeginningAnswersEverySelection(t *testing.T) {
	e := snapshottest.FallingBack(snapshottest.Key("llama"))
	e.State = snapshot.Warming
	for i := range e.Candidates {
		e.Candidates[i].Error, e.Candidates[i].Windows = "0 observations, expected at least 1", nil
	}
	for selection, want := range map[decide.Overrides]float64{
		{}: e.Decision.Value, {Quantile: 0.5}: e.Decision.Value, {Horizon: time.Minute}: e.Decision.Value,
		{Mode: decide.Shadow}: e.Observed,
	} {
		answer, err := e.Answer(selection, snapshottest.Now())
		if err != nil || answer.Value != want {
			t.Errorf("%+v: %+v, %v; want %v", selection, answer, err, want)
		}
	}
}

// Until a horizon is calibrated, the longest calibrated one is served, with its own length.
func TestAYoungSeriesReachesAsFarAsItCan(t *testing.T) {
	e := snapshottest.Ready(snapshottest.Key("llama"))
	i := slices.IndexFunc(e.Candidates, func(c snapshot.Candidate) bool { return c.Name == e.Model })
	windows := e.Candidates[i].Windows
	longest := windows[len(windows)-1].Horizon
	e.MaxHorizon = 2 * longest
	want, err := e.Answer(decide.Overrides{Horizon: longest}, snapshottest.Now())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := e.Answer(decide.Overrides{Horizon: e.MaxHorizon}, snapshottest.Now()); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	_, beyond := e.Answer(decide.Overrides{Horizon: e.MaxHorizon + 1}, snapshottest.Now())
	if !errors.Is(beyond, decide.ErrSelector) {
		t.Errorf("beyond the reach: %v, want %v", beyond, decide.ErrSelector)
	}
}

func TestSnapshotKeepsOrder(t *testing.T) {
	entries := map[snapshot.Key]*snapshot.ForecastSnapshot{}
	for _, k := range []snapshot.Key{{Namespace: "b", Name: "a"}, {Namespace: "a", Name: "z"}, {Namespace: "a", Name: "b"}} {
		entries[k] = &snapshot.ForecastSnapshot{Key: k}
	}
	s := snapshot.New(snapshottest.Now(), entries, 0, snapshot.LoopStats{})
	var got []string
	for _, e := range s.Entries("") {
		got = append(got, e.Key.String())
	}
	if strings.Join(got, " ") != "a/b a/z b/a" || len(s.Entries("a")) != 2 || len(s.Entries("c")) != 0 {
		t.Errorf("all are %v, of a %d, of c %d", got, len(s.Entries("a")), len(s.Entries("c")))
	}
}

// A pause wins over every selection, also over one that would be an error.
func TestAPauseAnswersEverySelection(t *testing.T) {
	e := snapshottest.Paused(snapshottest.Key("llama"))
	for _, s := range []decide.Overrides{
		{},
		{Quantile: 0.5},
		{Horizon: time.Hour},
		{Late: 0.1},
		{Model: "arima"},
		{Model: "prophet"},
		{Mode: decide.Shadow},
		{Mode: decide.Forecast},
	} {
		answer, err := e.Answer(s, snapshottest.Now())
		if err != nil || answer.Value != 2*e.Observed {
			t.Errorf("%+v: %+v, %v; want %v", s, answer, err, 2*e.Observed)
		}
	}
	if _, err := e.Answer(decide.Overrides{}, e.StaleAt); !errors.Is(err, snapshot.ErrNotServing) {
		t.Errorf("too old: %v, want %v", err, snapshot.ErrNotServing)
	}
}

// While the workload sleeps, metrics are 0 under every name, and so are views that expect nothing. KEDA's triggers read the value without
// the rule, and shadow mode the observed demand.
func TestAnswerAsleep(t *testing.T) {
	e := snapshottest.Ready(snapshottest.Key("llama"))
	e.Observed = 0
	e.Settings.ZeroBelow = 1e9
	e.Decision.Observed = 0
	for i := range e.Inputs {
		e.Inputs[i].Observed = 0
	}
	e.Decision.ApplyZero(e.Settings, true)
	awake := e.Decision.Zero.Awake
	for name, c := range map[string]struct {
		answer    func(decide.Overrides, time.Time) (snapshot.Answer, error)
		selection decide.Overrides
		want      float64
	}{
		"the metric":            {e.Answer, decide.Overrides{}, 0},
		"its alias":             {e.AnswerExposed, decide.Overrides{}, 0},
		"a trigger":             {e.AnswerTrigger, decide.Overrides{}, awake},
		"another quantile":      {e.Answer, decide.Overrides{Quantile: 0.5}, 0},
		"a longer horizon":      {e.Answer, decide.Overrides{Horizon: time.Hour}, 0},
		"shadow mode":           {e.Answer, decide.Overrides{Mode: decide.Shadow}, 0},
		"a trigger's own model": {e.AnswerTrigger, decide.Overrides{Model: e.Model}, awake},
	} {
		if got, err := c.answer(c.selection, snapshottest.Now()); err != nil || got.Value != c.want {
			t.Errorf("%s: %v, %v; want %v", name, got.Value, err, c.want)
		}
	}
	e.Settings.ZeroBelow = 1e-9 // Every other view expects something, so it does not sleep.
	if got, err := e.Answer(decide.Overrides{Quantile: 0.99}, snapshottest.Now()); err != nil || got.Value == 0 {
		t.Errorf("a view that expects demand: %v, %v", got.Value, err)
	}
}
