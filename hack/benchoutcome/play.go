package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sync/atomic"
	"time"

	"github.com/forewarm/forewarm/pkg/simulate"
)

// line is the outcome of one setting of a policy on a trace.
type line struct {
	Trace        string  `json:"trace"`
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

// result is what a policy did on a trace, setting by setting.
type result struct {
	trial *trial
	rival rival
	lines []line
}

// playAll lets every policy play every trace, some at a time. The lines go to each in a fixed order, as soon as they are
// known.
func playAll(trials []*trial, o options, words io.Writer, each func(*trial, line) error) ([]result, error) {
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
	var begun atomic.Int64
	for range o.jobs {
		go func() {
			for i := begun.Add(1) - 1; i < int64(len(todo)); i = begun.Add(1) - 1 {
				got, from := todo[i], time.Now()
				lines, err := got.trial.sweep(got.rival)
				got.lines = lines
				outcomes[i] <- outcome{got, time.Since(from), err}
			}
		}()
	}
	var results []result
	for _, done := range outcomes {
		got := <-done
		if got.err != nil {
			return nil, fmt.Errorf("%s on %s: %w", got.rival.name, got.trial.name, got.err)
		}
		fmt.Fprintf(words, "%s: %s, %d settings in %s\n",
			got.trial.name, got.rival.name, len(got.lines), got.spent.Round(10*time.Millisecond))
		for _, l := range got.lines {
			if err := each(got.trial, l); err != nil {
				return nil, err
			}
		}
		results = append(results, got.result)
	}
	return results, nil
}

// sweep plays every setting of a policy on the trace.
func (t *trial) sweep(r rival) ([]line, error) {
	plays, err := r.plays(t)
	if err != nil {
		return nil, err
	}
	var out []line
	for _, p := range plays {
		l, err := t.outcome(r, p)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

// outcome plays one setting.
func (t *trial) outcome(r rival, p play) (line, error) {
	c := t.config(p.target, p.stabilization)
	c.HPA.Min = max(c.HPA.Min, p.minReplicas)
	report, err := simulate.Run(c, simulate.NewTape(p.values))
	if err != nil {
		return line{}, err
	}
	l := line{
		Trace: t.name, Policy: r.name, Setting: p.setting,
		Cost: report.Cost(), Late: report.LateShare(), ChurnPerHour: report.ChurnPerHour(),
	}
	if math.IsNaN(l.Cost) {
		return line{}, fmt.Errorf("no demand after the warm-up of %s", t.warmUp())
	}
	if r.learns {
		l.Without = t.family
	}
	if r.hindsight {
		seconds, least := p.stabilization.Seconds(), c.HPA.Min
		l.Stabilization, l.MinReplicas = &seconds, &least
	}
	return l, nil
}
