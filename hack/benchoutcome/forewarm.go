package main

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast/quantreg"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/headroom"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/policy"
)

// peaks is the configuration of the window peak forecast.
func (t *trial) peaks() windowpeak.Config {
	return windowpeak.Config{
		Step:             t.step,
		Window:           t.window(),
		Models:           t.models,
		RegressionInputs: t.models,
		WithoutFeatures:  t.without,
	}
}

// collect gathers the rows of this trace for the priors of the other families.
func (t *trial) collect() (quantreg.Rows, error) {
	const every = 10 * time.Minute
	c := t.peaks()
	c.Prior = windowpeak.NaivePrior(windowpeak.NewFeatures(c).Names())
	set, err := windowpeak.NewCandidateSet(c)
	if err != nil {
		return quantreg.Rows{}, err
	}
	collector := windowpeak.NewCollector(set, int(every/t.step))
	_, err = t.values(collectingPolicy{collector})
	return collector.Rows(), err
}

// collectingPolicy collects rows and serves nothing.
type collectingPolicy struct{ collector *windowpeak.Collector }

func (c collectingPolicy) Serve(o simulate.Observation) float64 {
	c.collector.Step(windowpeak.Sample{Observed: o.Demand, Arrived: o.Arrived})
	return math.NaN()
}

// fitWindowPeakPrior is fitted to the traces of the other families that count, with equal weights of families.
func (t *trial) fitWindowPeakPrior() (windowpeak.Prior, error) {
	columns := windowpeak.NewFeatures(t.peaks()).Names()
	others := t.otherFamilies()
	if len(others) == 0 {
		return windowpeak.NaivePrior(columns), nil
	}
	families := map[string]int{}
	total := 0
	for _, other := range others {
		rows, err := other.collected()
		if err != nil {
			return windowpeak.Prior{}, err
		}
		families[other.family] += len(rows.Y)
		total += len(rows.Y)
	}
	var all quantreg.Rows
	for _, other := range others {
		rows, err := other.collected()
		if err != nil {
			return windowpeak.Prior{}, err
		}
		all.X, all.Y = append(all.X, rows.X...), append(all.Y, rows.Y...)
		weight := float64(total) / float64(len(families)*families[other.family])
		all.Weights = append(all.Weights, slices.Repeat([]float64{weight}, len(rows.Y))...)
	}
	return windowpeak.FitPrior(columns, all)
}

// forewarm is the server's forecaster on this trace, for several policies at once. Headrooms, if any, replace the calibrated
// ones.
func (t *trial) forewarm(
	asked []decide.Policy,
	margins headroom.Priors,
	multiples []float64,
) (*policy.Forewarm, error) {
	prior, err := t.windowPeakPrior()
	if err != nil {
		return nil, err
	}
	for i := range asked {
		asked[i].Target, asked[i].Lead, asked[i].Mode = replicaCapacity, t.lead.planned(), decide.Floor
	}
	models := slices.Clone(t.models)
	for _, name := range objective.DefaultCandidates() {
		if !slices.Contains(models, name) {
			models = append(models, name)
		}
	}
	return policy.NewForewarm(forecaster.Config{
		Step:          t.step,
		Window:        t.window(),
		Starts:        t.lead.pods(),
		Rate:          true,
		Models:        models,
		Policy:        asked[0],
		ExtraPolicies: asked[1:],
		Autoscalers:   []decide.Autoscaler{{Name: "trace", HPA: t.config(1, 0).HPA}},
		Priors: &forecaster.Priors{
			WindowPeak:       prior,
			Headroom:         margins,
			RegressionInputs: t.models,
			WithoutFeatures:  t.without,
			FixedHeadroom:    multiples,
		},
	}), nil
}

// measureLateShares are the shares late under each multiplier of each candidate's grid, over the whole trace.
func (t *trial) measureLateShares() (headroom.Priors, error) {
	f, err := t.forewarm([]decide.Policy{{Late: 0.01}}, nil, nil)
	if err != nil {
		return nil, err
	}
	_, err = t.values(f)
	return f.Forecaster().Calibrator().LateShares(), err
}

// headroomPriors are the geometric mean over the other families of the shares late under each multiplier.
func (t *trial) headroomPriors() (headroom.Priors, error) {
	others := t.otherFamilies()
	if len(others) == 0 {
		return headroom.BuiltinPriors(t.lead.planned())
	}
	logs := headroom.Priors{}
	for i, weight := range trialWeights(others) {
		all, err := others[i].lateShares()
		if err != nil {
			return nil, err
		}
		for name, late := range all {
			logs[name] = addLogs(logs[name], weight, late)
		}
	}
	for _, late := range logs {
		for i := range late {
			late[i] = math.Exp(late[i])
		}
	}
	return logs, nil
}

// addLogs adds the weighted logarithms of the shares late to a sum, which is nil at first.
func addLogs(sum []float64, weight float64, late []float64) []float64 {
	if sum == nil {
		sum = make([]float64, len(late))
	}
	for i := range late {
		sum[i] += weight * math.Log(late[i]+leastLogLate)
	}
	return sum
}

// sweepHeadroom sweeps one headroom multiplier for all traces.
func sweepHeadroom(t *trial) ([]play, error) {
	settings := t.sweptSettings(headroom.FineGrid())
	asked := make([]decide.Policy, len(settings))
	multiples := make([]float64, len(settings))
	for i, k := range settings {
		asked[i].Late, multiples[i] = 0.01, max(k, zeroHeadroom)
	}
	f, err := t.forewarm(asked, nil, multiples)
	if err != nil {
		return nil, err
	}
	return t.playAtOnce(f, settings)
}

// zeroHeadroom stands for 0, which means a calibrated headroom.
const zeroHeadroom = 1e-9

// sweepObjective sweeps one objective for all traces. Beside it, it sweeps the headroom of the candidates that are selected for
// the reported objectives: what hindsight would have chosen.
func sweepObjective(t *trial) ([]play, error) {
	return t.sweepCalibrated(objectives(), func(late float64) decide.Policy { return decide.Policy{Late: late} })
}

// sweepPrice sweeps one price of late demand for all traces.
func sweepPrice(t *trial) ([]play, error) {
	return t.sweepCalibrated(prices(), func(price float64) decide.Policy { return decide.Policy{CostRatio: price} })
}

// sweepCalibrated sweeps a setting of policies with a calibrated headroom.
func (t *trial) sweepCalibrated(settings []float64, of func(float64) decide.Policy) ([]play, error) {
	priors, err := t.headroomPriors()
	if err != nil {
		return nil, err
	}
	settings = t.sweptSettings(settings)
	asked := make([]decide.Policy, len(settings))
	for i, setting := range settings {
		asked[i] = of(setting)
	}
	f, err := t.forewarm(asked, priors, nil)
	if err != nil {
		return nil, err
	}
	return t.playAtOnce(f, settings)
}

// playAtOnce plays all settings at once.
func (t *trial) playAtOnce(f *policy.Forewarm, settings []float64) ([]play, error) {
	plays := make([]play, len(settings))
	for i, setting := range settings {
		plays[i] = play{setting: setting, target: 1}
	}
	n := recordingPolicy{forewarm: f, plays: plays}
	if !t.oneSetting {
		n.constant = constantPlays(settings)
	}
	_, err := t.values(n)
	return slices.Concat(plays, n.constant), err
}

// constantPlays are one of each headroom multiplier for each of the settings that is a reported objective.
func constantPlays(settings []float64) []play {
	var out []play
	for _, late := range reportedObjectives() {
		if !slices.Contains(settings, late) {
			continue
		}
		for _, k := range headroom.FineGrid() {
			out = append(out, play{objective: late, setting: k, target: 1})
		}
	}
	return out
}

// recordingPolicy records the value of each play's setting.
type recordingPolicy struct {
	forewarm *policy.Forewarm
	// plays are those of the policies, constant those of constant headrooms.
	plays, constant []play
}

// Serve records the values for the next step, and serves none.
func (n recordingPolicy) Serve(o simulate.Observation) float64 {
	served := n.forewarm.ServeAll(o)
	for i, v := range served {
		n.plays[i].values = append(n.plays[i].values, v)
	}
	calibrator := n.forewarm.Forecaster().Calibrator()
	for i := range n.constant {
		p := &n.constant[i]
		at := slices.IndexFunc(n.plays, func(q play) bool { return q.setting == p.objective })
		v := served[at]
		if calibrator != nil && n.forewarm.Forecaster().Decided() {
			v = decide.HeadroomValue(p.setting, calibrator.Inputs(at))
		}
		p.values = append(p.values, v)
	}
	return math.NaN()
}
