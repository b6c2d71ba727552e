package main

import (
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate/policy"
)

// rival is a policy by the name it has on the command line.
type rival struct {
	name string
	// plays are those on one trace: one for each of the settings that the policy is swept over.
	plays func(t *trial) ([]play, error)
	// learns are the stages by which something is learnt from the traces of other families beforehand.
	learns []stage
	// objective says that the setting is the share of late demand that is asked for.
	objective bool
	// within is the CPU time that the study allows to a setting, in seconds; 0 where it says nothing.
	within float64
	// hindsight says that settings are chosen per trace: no rival, but what rivals are measured by.
	hindsight bool
}

// play is one setting of a policy on a trace: the values that it serves, and the HPA that reads them.
type play struct {
	setting       float64
	values        []float64
	target        float64
	stabilization time.Duration
	minReplicas   int32
}

const (
	usual = 5 * time.Minute  // the stabilization of an HPA that sets none
	long  = 30 * time.Minute // one that people set against flapping
)

// rivals are all policies, in the order of the summary.
func rivals() []rival {
	return []rival{
		{name: "stock300", plays: swept(observed, usual), within: reactiveWithin},
		{name: "stock1800", plays: swept(observed, long), within: reactiveWithin},
		{name: "max15m", plays: swept(func(t *trial) ([]float64, error) {
			return t.values(policy.NewMax(15*time.Minute, t.step))
		}, usual), within: reactiveWithin},
		{name: "offset", plays: swept(func(t *trial) ([]float64, error) {
			return t.values(policy.NewOffset(t.lead.planned(), t.step, day, 7*day))
		}, usual), within: reactiveWithin},
		{name: "day-profile", plays: swept(func(t *trial) ([]float64, error) {
			return t.values(policy.NewDayProfile(5*time.Minute, time.Hour, t.step))
		}, usual), within: reactiveWithin},
		{name: "holt-winters", plays: swept(holtWinters, usual)},
		{name: "arima", plays: swept(autoARIMA, usual)},
		{name: "reactive-tuned", plays: tuned, learns: []stage{rehearsals()}, objective: true, within: reactiveWithin},
		{name: "forewarm-k", plays: forewarmK, learns: []stage{rows()}, within: forewarmWithin},
		{
			name:      "forewarm",
			plays:     forewarm,
			learns:    []stage{rows(), lates()},
			objective: true,
			within:    forewarmWithin,
		},
		{name: "forewarm-price", plays: forewarmPrice, learns: []stage{rows(), lates()}, within: forewarmWithin},
		{name: "oracle", plays: oracle},
		{name: "reactive-hindsight", plays: hindsight, hindsight: true},
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

// swept plays the values of one policy under every target.
func swept(of func(*trial) ([]float64, error), stabilization time.Duration) func(*trial) ([]play, error) {
	return func(t *trial) ([]play, error) {
		values, err := of(t)
		if err != nil {
			return nil, err
		}
		var out []play
		for _, target := range t.some(targets()) {
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
	return modelled(t, block, history, smoothing.HoltWinters{Period: int(day / block), Trend: smoothing.DampedTrend})
}

// autoARIMA is fitted on a day of minutes: that settles its few parameters, and the search for its order costs in
// proportion.
func autoARIMA(t *trial) ([]float64, error) {
	return modelled(t, time.Minute, day, arima.Auto{MaxD: 1})
}

func modelled(t *trial, block, history time.Duration, model forecast.Model) ([]float64, error) {
	block = max(block, t.step)
	p, err := policy.NewModel(windowpeak.ModelConfig{
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

// tuned plays the reactive rule that tunes itself. Its values are in replicas of full capacity.
func tuned(t *trial) ([]play, error) {
	prior, err := t.prior()
	if err != nil {
		return nil, err
	}
	var out []play
	for _, objective := range t.some(objectives()) {
		r, err := policy.NewRehearsal(t.config(1, 0), policy.Candidates())
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

// oracle plays the demand to come. Even it wants a target: what is observed is the mean of a minute, and less than its peak.
func oracle(t *trial) ([]play, error) {
	values, err := policy.Ahead(t.demand, t.window(), t.step)
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

// hindsight plays the observed demand under every target and stabilization, and half of the targets under minReplicas
// too, which are shares of the mean demand: the study's grid.
func hindsight(t *trial) ([]play, error) {
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
	for _, stabilization := range []time.Duration{0, usual, 2 * usual, long} {
		add(stabilization, targets(), 1)
	}
	var half []float64
	for i := 0; i < len(targets()); i += 2 {
		half = append(half, targets()[i])
	}
	for _, share := range []float64{0.17, 0.33, 0.67, 1, 1.5, 2} {
		for _, stabilization := range []time.Duration{0, usual, long} {
			add(stabilization, half, int32(share*meanReplicas+0.5))
		}
	}
	return out, nil
}
