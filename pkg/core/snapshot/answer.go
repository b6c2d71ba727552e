package snapshot

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Answer is one value as a metric serves it: finite and not negative.
type Answer struct {
	Value float64
	// Time of the newest real sample behind the value.
	Time time.Time
	// Window is the horizon that the value looks over.
	Window time.Duration
	// Rule is what the value follows from, and Quantile its level where that is one.
	Rule     decide.Rule
	Quantile float64
}

// ErrNotServing: the Forecast exists but has nothing sound to say now. The message has the reason.
var ErrNotServing = errors.New("not serving")

// Answer is the value for a selection at the time now. The error wraps ErrNotServing, or decide.ErrSelection where the
// selection asks for a model or a horizon that the Forecast does not have.
func (e *Entry) Answer(selection decide.Selection, now time.Time) (Answer, error) {
	if !e.State.Serves() {
		return Answer{}, fmt.Errorf("%w: %s", ErrNotServing, e.Why())
	}
	if e.StateAt(now) == Stale {
		age := now.Sub(e.SampleTime).Round(time.Second)
		return Answer{}, fmt.Errorf("%w: %s: the newest sample is %s old", ErrNotServing, Stale, age)
	}
	decision, window, err := e.decide(selection)
	if err != nil {
		return Answer{}, err
	}
	return Answer{
		Value: decision.Value, Time: e.SampleTime, Window: window, Rule: decision.Rule, Quantile: decision.Quantile,
	}, nil
}

// StateAt is the entry's state, or Stale where its data has grown too old since the snapshot was made.
func (e *Entry) StateAt(now time.Time) State {
	if e.State.Serves() && !now.Before(e.StaleAt) {
		return Stale
	}
	return e.State
}

// Why is the message of the Ready condition: the state in a sentence.
func (e *Entry) Why() string {
	for _, c := range e.Conditions {
		if c.Type == ConditionReady {
			return c.Reason + ": " + c.Message
		}
	}
	return string(e.State)
}

// decide applies a selection. Without one, and while the fallback serves (which knows no models and no quantiles), it
// is the Forecast's own decision.
func (e *Entry) decide(s decide.Selection) (decide.Decision, time.Duration, error) {
	if s == (decide.Selection{}) {
		return e.Decision, e.Window, nil
	}
	if e.Fallback {
		d := e.Decision
		if s.Mode == decide.Shadow {
			d.Value = d.Observed
		}
		return d, e.Window, nil
	}
	name := s.Model
	if name == "" {
		name = e.Model
		if s.Horizon != 0 && s.Horizon != e.Window && e.PathModel != "" {
			name = e.PathModel // The selected one may know the lead window alone.
		}
	}
	i := e.find(name)
	switch {
	case i < 0 && s.Model != "":
		return decide.Decision{}, 0, e.unknownModel(s.Model)
	case i < 0:
		return e.Decision, e.Window, nil
	case e.Candidates[i].Error != "":
		return decide.Decision{}, 0, fmt.Errorf("%w: model %s: %s", ErrNotServing, name, e.Candidates[i].Error)
	}
	return e.decideBy(&e.Candidates[i], s)
}

// find is the index of a candidate however its name is spelled, −1 where there is none.
func (e *Entry) find(name string) int {
	if i := slices.IndexFunc(e.Candidates, func(c Candidate) bool { return c.Name == name }); i >= 0 {
		return i
	}
	canonical, known := windowpeak.Canonical(name)
	if !known {
		return -1
	}
	return slices.IndexFunc(e.Candidates, func(c Candidate) bool { return c.Name == canonical })
}

func (e *Entry) decideBy(c *Candidate, s decide.Selection) (decide.Decision, time.Duration, error) {
	policy := s.Apply(e.Policy)
	k := 0.0
	if e.Outcome != nil {
		k = e.Outcome.K(policy)
	} else {
		policy.Target = 0 // Without an outcome a quantile rules.
	}
	window := e.Window
	if s.Horizon != 0 && s.Horizon != window {
		// The margin is for the Forecast's own window.
		window, policy.Target = s.Horizon, 0
	}
	if c.Name == e.Model && window == e.Window {
		return decide.Decide(policy, k, e.Inputs), window, nil
	}
	if named := e.named(c.Name); named != nil && policy.ByOutcome() {
		return decide.Decide(policy, named.K(policy), named.Inputs), window, nil
	}
	if n := len(c.Windows); n > 0 && window > c.Windows[n-1].Horizon && window <= e.Reach {
		// A young series has no such windows yet: the longest there is says more than nothing, and the answer says its
		// length.
		window = c.Windows[n-1].Horizon
	}
	q, ok := windowpeak.AtHorizon(c.Windows, window)
	if !ok {
		return decide.Decision{}, 0, e.unknownHorizon(c, window)
	}
	input := decide.Input{Observed: e.Observed, Window: q}
	if n := len(e.Inputs); n > 0 && window == e.Window { // The distributions of other windows are bounded already.
		input.Limit = e.Inputs[n-1].Limit
	}
	policy.Target = 0 // Of another candidate nobody knows what its headroom should be: its quantile is served.
	return decide.Decide(policy, k, []decide.Input{input}), window, nil
}

// named is a candidate that autoscalers ask for by name, with its own headroom; nil where none does, or it knows nothing yet.
func (e *Entry) named(candidate string) *outcome.NamedCandidate {
	if e.Outcome == nil {
		return nil
	}
	if named := e.Outcome.Find(candidate); named != nil && len(named.Inputs) > 0 {
		return named
	}
	return nil
}

func (e *Entry) unknownModel(name string) error {
	names := make([]string, len(e.Candidates))
	for i, c := range e.Candidates {
		names[i] = c.Name
	}
	if len(names) == 0 {
		return fmt.Errorf("%w: model %.64q: no model is fitted yet (%s)", ErrNotServing, name, e.Why())
	}
	return fmt.Errorf("%w: unknown model %.64q, valid are %s", decide.ErrSelection, name, strings.Join(names, ", "))
}

func (e *Entry) unknownHorizon(c *Candidate, horizon time.Duration) error {
	if len(c.Windows) == 0 {
		return fmt.Errorf("%w: model %s has no distribution yet", ErrNotServing, c.Name)
	}
	return fmt.Errorf("%w: horizon %s is out of reach, valid are %s to %s",
		decide.ErrSelection, horizon, c.Windows[0].Horizon, max(e.Reach, c.Windows[len(c.Windows)-1].Horizon))
}
