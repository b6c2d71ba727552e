package compare

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// Study says what to simulate for evaluations over many histories: every setting of each policy, including the settings that only
// hindsight finds.
type Study struct {
	// Objectives are the objectives to play Forewarm with. The first Judged of them are also played with the constant Headrooms,
	// which are multipliers of the spread of the candidate that is selected for the objective.
	Objectives, Headrooms []float64
	Judged                int
	// Draws is the number of random draws of lead times. Each figure is the mean over the draws. 0 means 1.
	Draws int
}

// Setting is the result of one setting of a policy.
type Setting struct {
	// Policy is the policy's name. Setting is a target in the metric's unit, or Forewarm's objective. Headroom is the constant
	// multiplier for the objective; NaN where it is calibrated.
	Policy            string
	Setting, Headroom float64
	// FirstDay: the first 24 hours are counted instead of the time after the warm-up.
	FirstDay bool
	// Late, BadHours (a share of the demand), RelativeCost and ChurnPerHour are a Report's.
	Late, BadHours, RelativeCost, ChurnPerHour float64
	// Missed is the share of the deferrable work that missed its deadline.
	Missed float64
}

// StudyResult has all settings, and what happened under each headroom multiplier that Forewarm simulates.
type StudyResult struct {
	Settings []Setting
	Shares   objective.Priors
}

// RunStudy plays the policies that Only names, all but the autoscaler as written for nil. Every draw of the lead times is the same for
// all policies. The Config's Objective is ignored.
func RunStudy(ctx context.Context, c Config, s Study) (*StudyResult, error) {
	if len(s.Objectives) > 0 {
		c.Objective = s.Objectives[0]
	}
	p, err := newPlan(ctx, "study", c)
	if err != nil {
		return nil, err
	}
	t := &studied{plan: p, study: s, result: &StudyResult{}}
	for _, r := range hindsightPolicies() {
		if c.plays(r.name) {
			err = errors.Join(err, t.sweepTargets(r))
		}
	}
	if c.plays(Forewarm) {
		err = errors.Join(err, t.playObjectives())
	}
	return t.result, errors.Join(err, t.interrupted())
}

func (c *Config) plays(name string) bool { return c.Only == nil || slices.Contains(c.Only, name) }

// studied is a running study.
type studied struct {
	*plan
	study  Study
	result *StudyResult
}

// sweepTargets simulates a policy under every target.
func (t *studied) sweepTargets(r hindsightPolicy) error {
	values, err := r.values(t.plan)
	if err != nil || values == nil {
		return err
	}
	for _, target := range t.targets() {
		if err = t.add(Setting{Policy: r.name, Setting: inUnits(target), Headroom: math.NaN()}, values,
			target); err != nil {
			return err
		}
	}
	return nil
}

// playObjectives simulates Forewarm for every objective, and with constant headrooms.
func (t *studied) playObjectives() error {
	of, err := t.playRecorder(&servedRecorder{
		Forewarm: simulate.NewForewarm(t.forecasterConfig(t.study.Objectives...)),
		judged:   t.study.Judged, headrooms: t.study.Headrooms,
	})
	if err != nil {
		return err
	}
	if c := of.calibrator(); c != nil {
		t.result.Shares = c.Shares()
	}
	for i, values := range of.values {
		one := Setting{Policy: Forewarm, Headroom: math.NaN()}
		if n := len(t.study.Objectives); i < n {
			one.Setting = t.study.Objectives[i]
		} else {
			one.Setting = t.study.Objectives[(i-n)/len(t.study.Headrooms)]
			one.Headroom = t.study.Headrooms[(i-n)%len(t.study.Headrooms)]
		}
		if err = t.add(one, values, t.capacityTarget()); err != nil {
			return err
		}
	}
	return nil
}

// add simulates values under a target in thousandths. It adds the results after the warm-up and on the first day.
func (t *studied) add(s Setting, values []float64, target int64) error {
	first := t.config(target)
	first.WarmUp = 0
	if first.Deferrable.Len() > 0 {
		first.Deferrable.Values = first.Deferrable.Values[:min(first.Demand.Len(), int(day/sync))]
	}
	first.Demand.Values = first.Demand.Values[:min(first.Demand.Len(), int(day/sync))]
	for _, c := range []simulate.Config{t.config(target), first} {
		c.PassDeadBand = !math.IsNaN(s.Headroom) // The calibrated value already passes the dead band.
		var all []simulate.Report
		for draw := range max(t.study.Draws, 1) {
			if draw > 0 { // Forewarm's own simulated autoscalers use seed 1.
				c.Seed = uint64(draw) + 1
			}
			report, err := simulate.Run(c, simulate.NewTape(values))
			if err = errors.Join(err, t.interrupted()); err != nil {
				return err
			}
			all = append(all, report)
		}
		sum := simulate.SumReports(all)
		s.Late, s.Missed, s.RelativeCost = sum.LateShare(), sum.MissedShare(), sum.RelativeCost()
		s.BadHours = sum.BadHours.Share()
		s.ChurnPerHour = sum.ChurnPerHour() / float64(len(all))
		t.result.Settings = append(t.result.Settings, s)
		s.FirstDay = true
		if !math.IsNaN(s.Headroom) {
			break
		}
	}
	return nil
}
