package ets

import (
	"fmt"

	"github.com/forewarm/forewarm/forecast"
)

// Auto chooses a model of the family by AICc.
type Auto struct {
	// Period is the length of the season in steps; 0 and 1 mean none.
	Period int
	// Candidates are the models to choose from, Specs or AdditiveErrors or a list of one's own; nil means Specs.
	Candidates []Spec
	// Simulation is handed to the model that is chosen.
	Simulation Simulation
}

// Chosen is the model that was chosen, with what it was weighed against.
type Chosen struct {
	*Fitted
	Candidates []Candidate
	// Reason is why it was selected.
	Reason string
}

// Candidate is a model with its AICc, or with the reason for which it was passed over.
type Candidate struct {
	Spec   Spec
	AICc   float64
	Reason error
}

// Name is "auto-ETS" with the period: "auto-ETS[24]".
func (a Auto) Name() string {
	if a.Period < 2 {
		return "auto-ETS"
	}
	return fmt.Sprintf("auto-ETS[%d]", a.Period)
}

// Fit fits every candidate and keeps the one of least AICc; of equals, the simplest. A candidate that does not suit the
// series is passed over: what multiplies where a value is 0 or less, a season where there are fewer than two of them or
// fewer observations than parameters. From two observations on there is a forecast: where no candidate suits, that of a
// level which takes half of every surprise.
func (a Auto) Fit(s forecast.Series) (forecast.Fitted, error) {
	chosen, err := a.Estimate(s)
	if err != nil {
		return nil, err
	}
	return chosen, nil
}

// Estimate is Fit with the concrete type, which shows the candidates.
func (a Auto) Estimate(s forecast.Series) (*Chosen, error) {
	data, err := scaled(s)
	if err == nil {
		var chosen *Chosen
		if chosen, err = a.choose(data); err == nil {
			return chosen, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", a.Name(), err)
}
