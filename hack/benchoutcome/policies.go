package main

import (
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate/policy"
)

// benchPolicy is a policy by the name it has on the command line.
type benchPolicy struct {
	name string
	// plays are those on one trace: one for each of the settings that the policy is swept over.
	plays func(t *trial) ([]play, error)
	// stages compute the policy's priors from the traces of other families.
	stages []stage
	// objective: the setting is the share of demand that may be late.
	objective bool
	// within is the study's limit of CPU time for a setting, in seconds; 0 for none.
	within float64
	// hindsight says that settings are chosen per trace: no rival, but what rivals are measured by.
	hindsight bool
}

// play is one setting of a policy on a trace: the values that it serves, and the HPA that reads them.
type play struct {
	setting float64
	// objective for which the candidates are selected, if the setting is a constant headroom multiplier; else 0.
	objective     float64
	values        []float64
	target        float64
	stabilization time.Duration
	minReplicas   int32
}

const (
	defaultStabilization = 5 * time.Minute  // the stabilization of an HPA that sets none
	longStabilization    = 30 * time.Minute // one that people set against flapping
)

// benchPolicies are all policies, in the order of the summary.
func benchPolicies() []benchPolicy {
	return []benchPolicy{
		{name: "stock300", plays: sweepTargets(observed, defaultStabilization), within: reactiveWithin},
		{name: "stock1800", plays: sweepTargets(observed, longStabilization), within: reactiveWithin},
		{name: "max15m", plays: sweepTargets(func(t *trial) ([]float64, error) {
			return t.values(policy.NewMax(15*time.Minute, t.step))
		}, defaultStabilization), within: reactiveWithin},
		{name: "offset", plays: sweepTargets(func(t *trial) ([]float64, error) {
			return t.values(policy.NewOffset(t.lead.planned(), t.step, day, 7*day))
		}, defaultStabilization), within: reactiveWithin},
		{name: "day-profile", plays: sweepTargets(func(t *trial) ([]float64, error) {
			return t.values(policy.NewDayProfile(5*time.Minute, time.Hour, t.step))
		}, defaultStabilization), within: reactiveWithin},
		{name: "holt-winters", plays: sweepTargets(holtWinters, defaultStabilization)},
		{name: "arima", plays: sweepTargets(autoARIMA, defaultStabilization)},
		{
			name:      "reactive-tuned",
			plays:     sweepTuned,
			stages:    []stage{rehearsalStage()},
			objective: true,
			within:    reactiveWithin,
		},
		{name: "forewarm-k", plays: sweepHeadroom, stages: []stage{rowsStage()}, within: forewarmWithin},
		{
			name:      "forewarm",
			plays:     sweepObjective,
			stages:    []stage{rowsStage(), lateSharesStage()},
			objective: true,
			within:    forewarmWithin,
		},
		{
			name:   "forewarm-price",
			plays:  sweepPrice,
			stages: []stage{rowsStage(), lateSharesStage()},
			within: forewarmWithin,
		},
		{name: "oracle", plays: sweepOracle},
		{name: "reactive-hindsight", plays: sweepHindsight, hindsight: true},
	}
}

// targets are the shares of a replica's capacity that are swept: 20 % to 100 %.
func targets() []float64 {
	var out []float64
	for mille := 200; mille <= 1000; mille += 25 {
		out = append(out, float64(mille)/1000)
	}
	return out
}

// sweepTargets plays the values of one policy under every target.
func sweepTargets(of func(*trial) ([]float64, error), stabilization time.Duration) func(*trial) ([]play, error) {
	return func(t *trial) ([]play, error) {
		values, err := of(t)
		if err != nil {
			return nil, err
		}
		var out []play
		for _, target := range t.sweptSettings(targets()) {
			out = append(out, play{setting: target, values: values, target: target, stabilization: stabilization})
		}
		return out, nil
	}
}

func observed(t *trial) ([]float64, error) { return t.values(policy.NewObserved()) }

// The models forecast blocks as long as people give them, of the last two weeks, fitted anew every 6 hours.
const (
	history = 14 * day
	refit   = 6 * time.Hour
)

func holtWinters(t *trial) ([]float64, error) {
	const block = 5 * time.Minute
	return modelValues(t, block, history, smoothing.HoltWinters{Period: int(day / block), Trend: smoothing.DampedTrend})
}

// autoARIMA is fitted on a day of minutes: that settles its few parameters, and the search for its order costs in
// proportion.
func autoARIMA(t *trial) ([]float64, error) {
	return modelValues(t, time.Minute, day, arima.Auto{MaxD: 1})
}

func modelValues(t *trial, block, history time.Duration, model forecast.Model) ([]float64, error) {
	block = max(block, t.step)
	p, err := policy.NewModel(windowpeak.BlockModelConfig{
		Model: model, Block: block, Window: max(t.window(), block), History: history, Refit: refit, Step: t.step,
	})
	if err != nil {
		return nil, err
	}
	return t.values(p)
}

// objectives are the shares of late demand that a policy with such a knob is asked for.
func objectives() []float64 {
	return []float64{0.0003, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03}
}

// prices are those of a replica's worth of late demand, in idle replicas.
func prices() []float64 { return []float64{3, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500} }

// sweepTuned plays the reactive rule that tunes itself. Its values are in replicas of full capacity.
func sweepTuned(t *trial) ([]play, error) {
	prior, err := t.reactivePrior()
	if err != nil {
		return nil, err
	}
	var out []play
	for _, objective := range t.sweptSettings(objectives()) {
		r, err := policy.NewRehearsal(t.config(1, 0), policy.AllCandidates())
		if err != nil {
			return nil, err
		}
		p, err := policy.NewTuned(objective, r, prior)
		if err != nil {
			return nil, err
		}
		values, err := t.values(p)
		if err != nil {
			return nil, err
		}
		out = append(out, play{setting: objective, values: values, target: 1})
	}
	return out, nil
}

// sweepOracle plays the demand to come. Even it wants a target: what is observed is the mean of a minute, and less than its peak.
func sweepOracle(t *trial) ([]play, error) {
	values, err := policy.OracleValues(t.demand, t.window(), t.step)
	if err != nil {
		return nil, err
	}
	var out []play
	for percent := 80; percent <= 110; percent += 2 {
		target := float64(percent) / 100
		out = append(out, play{setting: target, values: values, target: target})
	}
	return out, nil
}

// sweepHindsight plays the observed demand under every target and stabilization, and half of the targets under minReplicas
// too, which are shares of the mean demand: the study's grid.
func sweepHindsight(t *trial) ([]play, error) {
	values, err := observed(t)
	if err != nil {
		return nil, err
	}
	var out []play
	add := func(stabilization time.Duration, targets []float64, minReplicas int32) {
		for _, target := range targets {
			out = append(out, play{
				setting: target, values: values, target: target, stabilization: stabilization, minReplicas: minReplicas,
			})
		}
	}
	for _, stabilization := range []time.Duration{0, defaultStabilization, 2 * defaultStabilization, longStabilization} {
		add(stabilization, targets(), 1)
	}
	var half []float64
	for i := 0; i < len(targets()); i += 2 {
		half = append(half, targets()[i])
	}
	for _, share := range []float64{0.17, 0.33, 0.67, 1, 1.5, 2} {
		for _, stabilization := range []time.Duration{0, defaultStabilization, longStabilization} {
			add(stabilization, half, int32(share*meanReplicas+0.5))
		}
	}
	return out, nil
}
