package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// line is the result of one setting of a policy on a trace.
type line struct {
	Lead string `json:"lead"`
	// Step is the time between refreshes, in seconds.
	Step  float64 `json:"step"`
	Trace string  `json:"trace"`
	// Family of the trace; none if it does not count.
	Family string `json:"family,omitempty"`
	// FirstDay: the first 24 h are counted instead of the time after the warm-up.
	FirstDay bool    `json:"first_day,omitempty"`
	Policy   string  `json:"policy"`
	Setting  float64 `json:"setting"`
	// Objective for which the candidates are selected, if the setting is a constant headroom multiplier.
	Objective    float64 `json:"objective,omitempty"`
	Cost         float64 `json:"cost"`
	Late         float64 `json:"late"`
	ChurnPerHour float64 `json:"churn_per_hour"`
	Without      string  `json:"without,omitempty"`
	// Stabilization in seconds and MinReplicas, if they are swept, too.
	Stabilization *float64 `json:"stabilization,omitempty"`
	MinReplicas   *int32   `json:"min_replicas,omitempty"`
}

func (l line) print(out io.Writer) error { return json.NewEncoder(out).Encode(l) }

// result is a policy on a trace, setting by setting: after the warm-up, and on the first day. constant are those of its
// constant headrooms.
type result struct {
	trial                  *trial
	policy                 benchPolicy
	lines, first, constant []line
}

// playAll plays every policy on every trace, in parallel. each is called with the lines in a fixed order.
func playAll(trials []*trial, o options, progress io.Writer, each func(*trial, line) error) ([]result, error) {
	if err := prepare(trials, o, progress); err != nil {
		return nil, err
	}
	type outcome struct {
		result
		spent time.Duration
		err   error
	}
	var todo []result
	var outcomes []chan outcome
	for _, t := range trials {
		for _, r := range o.policies {
			todo = append(todo, result{trial: t, policy: r})
			outcomes = append(outcomes, make(chan outcome, 1))
		}
	}
	parallel(len(todo), o.jobs, func(i int) {
		from := time.Now()
		got, err := todo[i].trial.sweep(todo[i].policy)
		outcomes[i] <- outcome{got, time.Since(from), err}
	})
	var results []result
	for i, done := range outcomes {
		got := <-done
		if got.err != nil {
			return nil, fmt.Errorf("%s on %s: %w", todo[i].policy.name, todo[i].trial.name, got.err)
		}
		fmt.Fprintf(progress, "L = %s, %d of %d: %s: %s, %d settings in %s\n", o.lead, i+1, len(todo),
			got.trial.name, got.policy.name, len(got.lines), got.spent.Round(10*time.Millisecond))
		for _, l := range slices.Concat(got.lines, got.first, got.constant) {
			if err := each(got.trial, l); err != nil {
				return nil, err
			}
		}
		results = append(results, got.result)
	}
	return results, nil
}

// parallel calls do for n indices in so many goroutines. It does not wait for them.
func parallel(n, jobs int, do func(i int)) {
	var begun atomic.Int64
	for range jobs {
		go func() {
			for i := int(begun.Add(1)) - 1; i < n; i = int(begun.Add(1)) - 1 {
				do(i)
			}
		}()
	}
}

// sweep plays every setting of a policy on the trace.
func (t *trial) sweep(r benchPolicy) (result, error) {
	out := result{trial: t, policy: r}
	plays, err := r.plays(t)
	if err != nil {
		return out, err
	}
	for _, p := range plays {
		l, err := t.playSetting(r, p, t.demand, t.warmUp())
		if err != nil {
			return out, err
		}
		if p.objective > 0 {
			out.constant = append(out.constant, l)
			continue
		}
		out.lines = append(out.lines, l)
		if !t.firstDayToo || r.hindsight || !t.beginsBusy() {
			continue
		}
		// Policies do not know the future: the first day is that of the whole trace.
		l, err = t.playSetting(r, p, t.firstDay(), 0)
		if err != nil {
			return out, err
		}
		l.FirstDay = true
		out.first = append(out.first, l)
	}
	return out, nil
}

// firstDay is the demand of the first 24 h.
func (r recorded) firstDay() forecast.Series {
	out := r.demand
	out.Values = out.Values[:min(out.Len(), int(day/out.Step))]
	return out
}

// beginsBusy reports whether the trace counts and has demand on its first day.
func (r recorded) beginsBusy() bool {
	return r.counts() && slices.ContainsFunc(r.firstDay().Values, func(v float64) bool { return v > 0 })
}

// playSetting plays one setting: the mean of all draws of the lead times.
func (t *trial) playSetting(r benchPolicy, p play, demand forecast.Series, warmUp time.Duration) (line, error) {
	c := t.config(p.target, p.stabilization)
	c.Demand, c.WarmUp, c.PodLead = demand, warmUp, t.lead.pods()
	c.HPA.Min = max(c.HPA.Min, p.minReplicas)
	l := line{Lead: t.lead.String(), Step: t.step.Seconds(), Trace: t.name, Policy: r.name, Setting: p.setting}
	l.Objective = p.objective
	seeds := t.lead.seeds()
	for _, seed := range seeds {
		c.Seed = seed
		report, err := simulate.Run(c, simulate.NewTape(p.values))
		if err != nil {
			return line{}, err
		}
		n := float64(len(seeds))
		l.Cost += report.RelativeCost() / n
		l.Late += report.LateShare() / n
		l.ChurnPerHour += report.ChurnPerHour() / n
	}
	if math.IsNaN(l.Cost) {
		return line{}, fmt.Errorf("no demand after the warm-up of %s", warmUp)
	}
	if t.counts() {
		l.Family = t.family
	}
	if len(r.stages) > 0 {
		l.Without = t.family
	}
	if r.hindsight {
		seconds, least := p.stabilization.Seconds(), c.HPA.Min
		l.Stabilization, l.MinReplicas = &seconds, &least
	}
	return l, nil
}
