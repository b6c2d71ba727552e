package snapshot

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Answer is one value of a metric: finite and not negative.
type Answer struct {
	Value float64
	// Time of the newest real sample that the value is based on.
	Time time.Time
	// Window is the horizon of the value.
	Window time.Duration
	// Rule decided the value. Quantile is its level if the rule is a quantile; otherwise 0.
	Rule     decide.Rule
	Quantile float64
}

// ErrNotServing: the Forecast exists but has no valid value now. The message has the reason.
var ErrNotServing = errors.New("not serving")

// Answer returns the value for a selection at the time now. The error wraps ErrNotServing, or decide.ErrSelector if the selection contains
// a model or a horizon that the Forecast does not have.
func (e *ForecastSnapshot) Answer(selection decide.Overrides, now time.Time) (Answer, error) {
	return e.answer(selection, now, func(d *decide.Decision) float64 { return d.Value })
}

// AnswerTrigger is Answer without the rule for idle workloads, because KEDA decides by itself when a workload goes to zero.
func (e *ForecastSnapshot) AnswerTrigger(selection decide.Overrides, now time.Time) (Answer, error) {
	return e.answer(selection, now, (*decide.Decision).WithoutZero)
}

// AnswerExposed is Answer under the alias. In shadow mode, the value is the newest sample of the query, which is what an adapter that
// queries the source would return. An HPA that moves from that adapter to Forewarm therefore reads the same value. A pause is served as
// in Answer, because the HPA may then already have a target for the Forecast.
func (e *ForecastSnapshot) AnswerExposed(selection decide.Overrides, now time.Time) (Answer, error) {
	return e.answer(selection, now, func(d *decide.Decision) float64 {
		if d.Shadow && !d.Pause.Active() {
			return e.Sampled
		}
		return d.Value
	})
}

// answer returns the value that one protocol reads of a decision.
func (e *ForecastSnapshot) answer(
	selection decide.Overrides, now time.Time, valueOf func(*decide.Decision) float64,
) (Answer, error) {
	if !e.State.Serves() {
		return Answer{}, fmt.Errorf("%w: %s", ErrNotServing, e.ReadyMessage())
	}
	if e.StateAt(now) == Stale {
		age := now.Sub(e.SampleTime).Round(time.Second)
		return Answer{}, fmt.Errorf("%w: %s: the newest sample is %s old", ErrNotServing, Stale, age)
	}
	if selection.Variant != "" {
		return e.answerPart(selection.Variant)
	}
	decision, window, err := e.decide(selection)
	if err != nil {
		return Answer{}, err
	}
	return Answer{
		Value: valueOf(&decision), Time: e.SampleTime, Window: window, Rule: decision.Rule, Quantile: decision.Quantile,
	}, nil
}

// answerPart returns the part of the value for a variant.
func (e *ForecastSnapshot) answerPart(name string) (Answer, error) {
	var names []string
	for _, part := range e.Parts {
		if part.Name == name {
			return Answer{Value: part.Value, Time: e.SampleTime, Window: e.Window, Rule: e.Decision.Rule}, nil
		}
		names = append(names, part.Name)
	}
	if len(names) == 0 {
		return Answer{}, fmt.Errorf("%w: variant=%.64q: the Forecast has no variants with known autoscalers",
			decide.ErrSelector, name)
	}
	return Answer{}, fmt.Errorf("%w: variant=%.64q is unknown: valid names are %s", decide.ErrSelector, name,
		strings.Join(names, ", "))
}

// IsReturnDue reports whether demand is expected at a time because it returned at about this time in one of the last seasons.
func (e *ForecastSnapshot) IsReturnDue(now time.Time) bool {
	return !e.ReturnDue.IsZero() && !now.Before(e.ReturnDue)
}

// PathCandidate returns the candidate that the Path is of; nil if there is none.
func (e *ForecastSnapshot) PathCandidate() *Candidate {
	for i := range e.Candidates {
		if strings.EqualFold(e.Candidates[i].Name, e.PathModel) {
			return &e.Candidates[i]
		}
	}
	return nil
}

// Doubt returns why nothing must be planned with an entry at a time, in words that continue the name of a Forecast: "is stale". It is empty if
// a model serves. The entry may be nil, before there is one.
func (e *ForecastSnapshot) Doubt(now time.Time) string {
	if e == nil {
		return "is not loaded yet"
	}
	switch state := e.StateAt(now); {
	case state == Stale:
		return fmt.Sprintf("is stale: its newest sample is %s old", humanize.Span(now.Sub(e.SampleTime)))
	case state == Warming:
		return "is still warming up"
	case state == Pending:
		return "has no history yet"
	case state == Invalid:
		return "is invalid"
	case state == FallingBack || e.Fallback:
		return "is served by a fallback"
	}
	return ""
}

// StateAt returns the entry's state, or Stale if its data has become too old since the snapshot was created.
func (e *ForecastSnapshot) StateAt(now time.Time) State {
	if e.State.Serves() && !now.Before(e.StaleAt) {
		return Stale
	}
	return e.State
}

// ReadyMessage returns the reason and message of the Ready condition.
func (e *ForecastSnapshot) ReadyMessage() string {
	for _, c := range e.Conditions {
		if c.Type == ConditionReady {
			return c.Reason + ": " + c.Message
		}
	}
	return string(e.State)
}

// decide applies a selection. The result is the Forecast's own decision if there is no selection, while the Forecast is paused, and while
// the fallback is served, which has neither models nor quantiles.
func (e *ForecastSnapshot) decide(s decide.Overrides) (decide.Decision, time.Duration, error) {
	if s == (decide.Overrides{}) || e.Decision.Pause.Active() {
		return e.Decision, e.Window, nil
	}
	d, window, err := e.decideView(s)
	if err == nil { // Another view sleeps only while the Forecast itself sleeps.
		d.ApplyZero(s.Apply(e.Settings), e.Decision.Zero.Asleep)
	}
	return d, window, err
}

// decideView applies a selection that is not empty.
func (e *ForecastSnapshot) decideView(s decide.Overrides) (decide.Decision, time.Duration, error) {
	if e.Fallback {
		d := e.Decision
		if s.Mode == decide.Shadow {
			d.Value, d.Shadow = d.Observed, true
		}
		return d, e.Window, nil
	}
	name := s.Model
	if name == "" {
		name = e.Model
		if s.Horizon != 0 && s.Horizon != e.Window && e.PathModel != "" {
			name = e.PathModel // The selected candidate may forecast only the lead window.
		}
	}
	i := e.indexOf(name)
	switch {
	case i < 0 && s.Model != "":
		return decide.Decision{}, 0, e.unknownModel(s.Model)
	case i < 0:
		return e.Decision, e.Window, nil
	case s.Model != "":
		e.Views.request(e.Candidates[i].Name)
	}
	if e.Candidates[i].Error != "" {
		return decide.Decision{}, 0, fmt.Errorf("%w: model %s: %s", ErrNotServing, name, e.Candidates[i].Error)
	}
	return e.decideBy(&e.Candidates[i], s)
}

// indexOf returns the index of a candidate, for any spelling of its name; −1 if there is none.
func (e *ForecastSnapshot) indexOf(name string) int {
	if i := slices.IndexFunc(e.Candidates, func(c Candidate) bool { return c.Name == name }); i >= 0 {
		return i
	}
	canonical, known := windowpeak.CanonicalName(name)
	if !known {
		return -1
	}
	return slices.IndexFunc(e.Candidates, func(c Candidate) bool { return c.Name == canonical })
}

func (e *ForecastSnapshot) decideBy(c *Candidate, s decide.Overrides) (decide.Decision, time.Duration, error) {
	settings := s.Apply(e.Settings)
	k := 0.0
	if e.Objective != nil {
		k = e.Objective.HeadroomFor(settings)
	} else {
		settings.Target = 0 // Without a calibrated objective, a quantile decides.
	}
	window := e.Window
	if s.Horizon != 0 && s.Horizon != window {
		// The headroom is only for the Forecast's own window.
		window, settings.Target = s.Horizon, 0
	}
	if c.Name == e.Model && window == e.Window {
		return decide.Decide(settings, k, e.inputsFor(k)), window, nil
	}
	if named := e.named(c.Name); named != nil && settings.ByHeadroom() {
		return decide.Decide(settings, named.HeadroomFor(settings), named.Inputs), window, nil
	}
	if n := len(c.Windows); n > 0 && window > c.Windows[n-1].Horizon && window <= e.MaxHorizon {
		// A young series has no windows of this length yet. The longest window is better than an error, and the answer contains its
		// length.
		window = c.Windows[n-1].Horizon
	}
	q, ok := windowpeak.QuantilesAtHorizon(c.Windows, window)
	if !ok {
		return decide.Decision{}, 0, e.unknownHorizon(c, window)
	}
	input := decide.Input{Observed: e.Observed, Quantiles: q}
	if n := len(e.Inputs); n > 0 && window == e.Window { // The distributions of other windows are already bounded.
		input.Limit = e.Inputs[n-1].Limit
	}
	settings.Target = 0 // Another candidate has no calibrated headroom, so its quantile is served.
	return decide.Decide(settings, k, []decide.Input{input}), window, nil
}

// inputsFor returns the inputs for a headroom. If it is not the Forecast's headroom, the autoscaler would have a different number of
// replicas and therefore a different dead band.
func (e *ForecastSnapshot) inputsFor(k float64) []decide.Input {
	if k == e.Decision.Headroom || len(e.Inputs) == 0 {
		return e.Inputs
	}
	inputs := slices.Clone(e.Inputs)
	inputs[len(inputs)-1].DeadBand = hpa.DeadBand{}
	return inputs
}

// named returns the report of a candidate that autoscalers select by name, with its own headroom; nil if there is no report or no data.
func (e *ForecastSnapshot) named(candidate string) *objective.NamedReport {
	if e.Objective == nil {
		return nil
	}
	for i := range e.Objective.Named {
		if named := &e.Objective.Named[i]; named.Name == candidate && len(named.Inputs) > 0 {
			return named
		}
	}
	return nil
}

func (e *ForecastSnapshot) unknownModel(name string) error {
	names := make([]string, len(e.Candidates))
	for i, c := range e.Candidates {
		names[i] = c.Name
	}
	if len(names) == 0 {
		return fmt.Errorf("%w: model %.64q: no model is fitted yet (%s)", ErrNotServing, name, e.ReadyMessage())
	}
	return fmt.Errorf("%w: unknown model %.64q: valid names are %s", decide.ErrSelector, name,
		strings.Join(names, ", "))
}

func (e *ForecastSnapshot) unknownHorizon(c *Candidate, horizon time.Duration) error {
	if len(c.Windows) == 0 {
		return fmt.Errorf("%w: model %s has no forecast yet", ErrNotServing, c.Name)
	}
	return fmt.Errorf("%w: horizon %s is out of range: use %s to %s",
		decide.ErrSelector, horizon, c.Windows[0].Horizon, max(e.MaxHorizon, c.Windows[len(c.Windows)-1].Horizon))
}
