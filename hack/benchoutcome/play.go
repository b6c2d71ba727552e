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

// line is the outcome of one setting of a policy on a trace.
type line struct {
	Lead string `json:"lead"`
	// Step is how often the policy is asked, in seconds.
	Step  float64 `json:"step"`
	Trace string  `json:"trace"`
	// Family that the trace counts with; none where it counts in no mean.
	Family string `json:"family,omitempty"`
	// FirstDay says that the first 24 h are counted, and not what comes after the warm-up.
	FirstDay     bool    `json:"first_day,omitempty"`
	Policy       string  `json:"policy"`
	Setting      float64 `json:"setting"`
	Cost         float64 `json:"cost"`
	Late         float64 `json:"late"`
	ChurnPerHour float64 `json:"churn_per_hour"`
	Without      string  `json:"without,omitempty"`
	// Stabilization in seconds and MinReplicas are settings too, where they are swept.
	Stabilization *float64 `json:"stabilization,omitempty"`
	MinReplicas   *int32   `json:"min_replicas,omitempty"`
}

func (l line) print(out io.Writer) error { return json.NewEncoder(out).Encode(l) }

// result is what a policy did on a trace, setting by setting: after the warm-up, and in the first day.
type result struct {
	trial        *trial
	rival        rival
	lines, first []line
}

// playAll lets every policy play every trace, some at a time. The lines go to each in a fixed order, as soon as they are
// known.
func playAll(trials []*trial, o options, words io.Writer, each func(*trial, line) error) ([]result, error) {
	if err := prepare(trials, o, words); err != nil {
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
		for _, r := range o.rivals {
			todo = append(todo, result{trial: t, rival: r})
			outcomes = append(outcomes, make(chan outcome, 1))
		}
	}
	inTurn(len(todo), o.jobs, func(i int) {
		from := time.Now()
		got, err := todo[i].trial.sweep(todo[i].rival)
		outcomes[i] <- outcome{got, time.Since(from), err}
	})
	var results []result
	for i, done := range outcomes {
		got := <-done
		if got.err != nil {
			return nil, fmt.Errorf("%s on %s: %w", todo[i].rival.name, todo[i].trial.name, got.err)
		}
		fmt.Fprintf(words, "L = %s, %d of %d: %s: %s, %d settings in %s\n", o.lead, i+1, len(todo),
			got.trial.name, got.rival.name, len(got.lines), got.spent.Round(10*time.Millisecond))
		for _, l := range slices.Concat(got.lines, got.first) {
			if err := each(got.trial, l); err != nil {
				return nil, err
			}
		}
		results = append(results, got.result)
	}
	return results, nil
}

// inTurn has so many goroutines do n things, each the next that nobody does. It does not wait for them.
func inTurn(n, jobs int, do func(i int)) {
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
func (t *trial) sweep(r rival) (result, error) {
	out := result{trial: t, rival: r}
	plays, err := r.plays(t)
	if err != nil {
		return out, err
	}
	for _, p := range plays {
		l, err := t.outcome(r, p, t.demand, t.warmUp())
		if err != nil {
			return out, err
		}
		out.lines = append(out.lines, l)
		if !t.cold || r.hindsight || !t.beginsBusy() {
			continue
		}
		// What a policy serves does not depend on what comes later: its first day is that of the whole trace.
		l, err = t.outcome(r, p, t.firstDay(), 0)
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

// beginsBusy says that the trace counts, and that there is demand in its first day.
func (r recorded) beginsBusy() bool {
	return r.counts() && slices.ContainsFunc(r.firstDay().Values, func(v float64) bool { return v > 0 })
}

// outcome plays one setting: the mean of all draws of the lead times.
func (t *trial) outcome(r rival, p play, demand forecast.Series, warmUp time.Duration) (line, error) {
	c := t.config(p.target, p.stabilization)
	c.Demand, c.WarmUp, c.Pod = demand, warmUp, t.lead.pods()
	c.HPA.Min = max(c.HPA.Min, p.minReplicas)
	l := line{Lead: t.lead.String(), Step: t.step.Seconds(), Trace: t.name, Policy: r.name, Setting: p.setting}
	seeds := t.lead.seeds()
	for _, seed := range seeds {
		c.Seed = seed
		report, err := simulate.Run(c, simulate.NewTape(p.values))
		if err != nil {
			return line{}, err
		}
		n := float64(len(seeds))
		l.Cost += report.Cost() / n
		l.Late += report.LateShare() / n
		l.ChurnPerHour += report.ChurnPerHour() / n
	}
	if math.IsNaN(l.Cost) {
		return line{}, fmt.Errorf("no demand after the warm-up of %s", warmUp)
	}
	if t.counts() {
		l.Family = t.family
	}
	if len(r.learns) > 0 {
		l.Without = t.family
	}
	if r.hindsight {
		seconds, least := p.stabilization.Seconds(), c.HPA.Min
		l.Stabilization, l.MinReplicas = &seconds, &least
	}
	return l, nil
}
