package snapshottest

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

const (
	step = 30 * time.Second
	lead = 5 * time.Minute
	// window is the lead time, the HPA's sync period, one step and the metric's lag.
	window = 375 * time.Second // That of the lead time.
)

// Now is the time of this package's snapshots; their newest sample is one step older.
func Now() time.Time { return time.Date(2026, time.March, 4, 14, 30, 0, 0, time.UTC) }

// Key returns the key of a Forecast in namespace "inference".
func Key(name string) snapshot.Key { return snapshot.Key{Namespace: "inference", Name: name} }

// Ready is a Forecast that serves an ARIMA model at quantile 0.95: about 118 requests/s observed, and rising.
func Ready(key snapshot.Key) *snapshot.ForecastSnapshot {
	now := Now()
	e := &snapshot.ForecastSnapshot{
		Key: key, Generation: 1, Created: now.Add(-9 * 24 * time.Hour), State: snapshot.Ready,
		Conditions: conditions(true, string(snapshot.Ready), "arima serves, 18.4 % better than the last value"),
		Workload:   "Deployment/" + key.Name, Unit: "requests/s",
		Step: step, Lead: lead, LeadSource: "fixed in spec.leadTime", Window: window,
		Settings:   decide.Settings{Quantile: 0.95, Late: 0.01, Lead: lead, Mode: decide.Floor},
		SampleTime: now.Add(-step), StaleAt: now.Add(10 * time.Minute),
		Observed: demandAt(now.Add(-step)),
		Model:    "arima",
		Choice: decide.SelectionReason{
			Rule:         decide.SelectedAsBetter,
			Criterion:    decide.PinballLoss,
			Selected:     "arima",
			SelectedLoss: 0.0231,
			Previous:     "regression",
			PreviousLoss: 0.0283,
			Hours:        24,
		},
		Skill: 0.184, Coverage: 0.953,
		Recent: recent(now), Path: path(now), PathModel: "arima", Past: past(now), Views: new(snapshot.ViewTracker),
	}
	e.Views.Set(&snapshot.Background{NextDay: nextDay(now)})
	e.Candidates = candidates(e.Observed)
	e.Inputs = inputs(e.Candidates[0].Windows, now)
	e.Decision = decide.Decide(e.Settings, 0, e.Inputs)
	return e
}

// Classified is Ready with two times of saturation (one lasts), an outage at night, and a missing minute.
func Classified(key snapshot.Key) *snapshot.ForecastSnapshot {
	e := Ready(key)
	now := Now()
	span := func(cause demand.Cause, ago, length time.Duration, share int) demand.Span {
		from := now.Add(-ago)
		return demand.Span{From: from, To: from.Add(length), Cause: cause, Samples: int(length/step) * share / 100}
	}
	e.Classifications = []demand.Span{
		span(demand.Outage, 10*time.Hour+30*time.Minute, demand.OutageHold, 100), // With the next, that of recent.
		span(demand.Missing, 10*time.Hour+20*time.Minute, 20*time.Minute, 100),
		span(demand.Saturated, 5*time.Hour, 100*time.Minute, 90),
		span(demand.Missing, 2*time.Hour, time.Minute, 100),
		span(demand.AtCapacity, 9*time.Minute, 9*time.Minute, 100),
	}
	return e
}

// Warming is a Forecast with half an hour of history: it serves the last value, skill and coverage are unknown.
func Warming(key snapshot.Key) *snapshot.ForecastSnapshot {
	e := Ready(key)
	e.State = snapshot.Warming
	e.Conditions = conditions(true, string(snapshot.Warming), "62 samples, a model needs 240; the last value serves")
	e.Model, e.PathModel = "last-value", "last-value"
	e.Choice = decide.SelectionReason{Rule: decide.SelectedFirst, Criterion: decide.PinballLoss, Selected: "last-value"}
	e.Skill, e.Coverage = math.NaN(), math.NaN()
	e.Recent = e.Recent.Slice(e.Recent.Len()-6, e.Recent.Len())
	e.Past, e.Path = nil, nil
	for i := range e.Candidates {
		c := &e.Candidates[i]
		c.Loss, c.Skill, c.Coverage = math.NaN(), math.NaN(), math.NaN()
		if !c.Baseline {
			c.Windows, c.Error = nil, "62 observations, expected at least 240: too short"
		}
	}
	return e
}

// FallingBack is a Forecast whose newest samples are missing: it serves the running maximum of the observed demand.
func FallingBack(key snapshot.Key) *snapshot.ForecastSnapshot {
	e := Ready(key)
	e.State = snapshot.FallingBack
	e.Conditions = append(
		conditions(true, string(snapshot.FallingBack), "the newest sample is 4m old; the running maximum serves"),
		snapshot.Condition{
			Type: snapshot.ConditionSource, Reason: "Unavailable", Message: "query: 503 from the source",
		},
	)
	e.SampleTime = Now().Add(-4 * time.Minute)
	e.Fallback, e.Model = true, "running max"
	e.Decision = decide.Fallback(e.Settings, decide.ByRunningMax, 121.5, e.Observed, window)
	e.Fallbacks = 8
	return e
}

// Paused is Ready under a pause that serves twice the observed demand.
func Paused(key snapshot.Key) *snapshot.ForecastSnapshot {
	e := Ready(key)
	p := decide.Pause{Capacity: 64, Target: 32, Source: "a replica sustains 64, and the target before was 32"}
	e.Decision, e.Settings.Mode = p.Apply(e.Decision, e.Observed), decide.Shadow
	e.Conditions = append(e.Conditions, snapshot.Condition{
		Type: snapshot.ConditionPaused, True: true, Reason: "AsBefore", Message: p.Message(),
	})
	return e
}

// Stale is a Forecast whose newest sample is 42 minutes old: nothing is served.
func Stale(key snapshot.Key) *snapshot.ForecastSnapshot {
	e := FallingBack(key)
	e.State = snapshot.Stale
	e.SampleTime, e.StaleAt = Now().Add(-42*time.Minute), Now().Add(-32*time.Minute)
	e.Conditions = conditions(false, string(snapshot.Stale), "the newest sample is 42m old, served are 10m")
	e.Decision, e.Path = decide.Decision{}, nil
	e.Fallback, e.Model = false, ""
	return e
}

// Pending is a Forecast whose first query is under way: no numbers at all.
func Pending(key snapshot.Key) *snapshot.ForecastSnapshot {
	return &snapshot.ForecastSnapshot{
		Key:        key,
		Generation: 1,
		State:      snapshot.Pending,
		Conditions: conditions(false, string(snapshot.Pending), "the first query is under way"),
		Workload:   "Deployment/" + key.Name,
		Step:       step,
		Lead:       lead,
		LeadSource: "spec.leadTime.fallback",
		Window:     window,
		Settings:   decide.Settings{Quantile: 0.95, Lead: lead},
		Observed:   math.NaN(),
		Skill:      math.NaN(),
		Coverage:   math.NaN(),
	}
}

// Invalid is a Forecast whose object has errors.
func Invalid(key snapshot.Key) *snapshot.ForecastSnapshot {
	return &snapshot.ForecastSnapshot{
		Key: key, Generation: 3, State: snapshot.Invalid,
		Conditions: conditions(false, string(snapshot.Invalid), `spec.step: "0s" is too short, write for example 30s`),
		Observed:   math.NaN(), Skill: math.NaN(), Coverage: math.NaN(),
	}
}

func conditions(ready bool, reason, message string) []snapshot.Condition {
	return []snapshot.Condition{{Type: snapshot.ConditionReady, True: ready, Reason: reason, Message: message}}
}

// Store returns a store with a snapshot of the entries, made at Now.
func Store(entries ...*snapshot.ForecastSnapshot) *snapshot.Store {
	var snapshots snapshot.Store
	snapshots.Publish(Snapshot(entries...))
	return &snapshots
}

// Snapshot returns a snapshot of the entries, made at Now.
func Snapshot(entries ...*snapshot.ForecastSnapshot) *snapshot.Snapshot {
	all := make(map[snapshot.Key]*snapshot.ForecastSnapshot, len(entries))
	pending := 0
	for _, e := range entries {
		all[e.Key] = e
		if e.State == snapshot.Pending {
			pending++
		}
	}
	stats := snapshot.LoopStats{
		Steps: 240, StepSeconds: 0.031, Queries: 960, QueryErrors: 3, Refits: 16,
		Clocks: map[string]snapshot.ClockDifference{"own": {Min: -2 * time.Second, Max: -time.Second}},
	}
	return snapshot.New(Now(), all, pending, stats)
}

// EveryState returns one Forecast in each state, named by it in lower case: ready, objective, warming, falling-back,
// stale, pending, invalid.
func EveryState() []*snapshot.ForecastSnapshot {
	return []*snapshot.ForecastSnapshot{
		Ready(Key("ready")), WithObjective(Key("objective")), Warming(Key("warming")), FallingBack(Key("falling-back")),
		Stale(Key("stale")), Pending(Key("pending")), Invalid(Key("invalid")),
	}
}

// Many returns n ready Forecasts, ten per namespace: team-0/model-0, team-0/model-1 and so on.
func Many(n int) []*snapshot.ForecastSnapshot {
	out := make([]*snapshot.ForecastSnapshot, n)
	for i := range out {
		out[i] = Ready(snapshot.Key{Namespace: fmt.Sprintf("team-%d", i/10), Name: fmt.Sprintf("model-%d", i)})
	}
	return out
}

// recent is a day of demand in steps of five minutes, with an outage of half an hour at night.
func recent(now time.Time) forecast.Series {
	const grid = 5 * time.Minute
	s := forecast.Series{Start: now.Add(-24 * time.Hour), Step: grid, Values: make([]float64, 24*time.Hour/grid)}
	for i := range s.Values {
		s.Values[i] = demandAt(s.TimeAt(i))
		if at := s.TimeAt(i); at.Hour() == 4 && at.Minute() < 30 {
			s.Values[i] = math.NaN()
		}
	}
	return s
}
