package ets

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
)

// choose weighs the candidates on one sample.
func (a Auto) choose(data sample) (*Chosen, error) {
	const leastObservations = 2
	switch {
	case a.Period < 0:
		return nil, fmt.Errorf("period %d, want 0 or more: %w", a.Period, forecast.ErrParameter)
	case data.count < leastObservations:
		return nil, fmt.Errorf("%d observations, want %d: %w", data.count, leastObservations, forecast.ErrTooShort)
	case data.lowest == data.highest:
		return level(a.Simulation, data, "constant")
	}
	out, best := a.weigh(data)
	if best == nil {
		chosen, err := level(a.Simulation, data, "no candidate suits the series")
		if err == nil {
			chosen.Candidates = out.Candidates
		}
		return chosen, err
	}
	var err error
	out.Fitted, err = a.model(best.spec).finish(best, data)
	out.Reason = fmt.Sprintf("least AICc of %d models", len(out.Candidates))
	return out, err
}

// weigh fits every candidate. The search of the best is nil where none has a finite AICc.
func (a Auto) weigh(data sample) (*Chosen, *search) {
	specs := a.Candidates
	if specs == nil {
		specs = Specs()
	}
	rooms := newRoom(len(data.values))
	out := &Chosen{Candidates: make([]Candidate, len(specs))}
	var best *search
	least := math.Inf(1)
	for i, spec := range specs {
		model := a.model(spec)
		found, err := model.search(data, rooms)
		out.Candidates[i] = Candidate{Spec: spec, AICc: math.Inf(1), Reason: err}
		if err != nil {
			continue
		}
		aicc := found.likelihood(model, data).AICc()
		out.Candidates[i].AICc = aicc
		if aicc < least {
			best, least = found, aicc
		}
	}
	return out, best
}

func (a Auto) model(spec Spec) Model {
	return Model{Spec: spec, Period: a.Period, Simulation: a.Simulation}
}

// level is ETS(A,N,N) with nothing estimated but the variance: half of every surprise moves the level, which starts at
// the first observation. It serves where there is too little to choose by.
func level(simulation Simulation, data sample, reason string) (*Chosen, error) {
	half := 0.5
	model := Model{Alpha: &half, Start: &States{Level: data.values[0] * data.scale}, Simulation: simulation}
	found, err := model.search(data, newRoom(len(data.values)))
	if err != nil {
		return nil, err
	}
	fitted, err := model.finish(found, data)
	if err != nil {
		return nil, err
	}
	return &Chosen{Fitted: fitted, Reason: reason}, nil
}
