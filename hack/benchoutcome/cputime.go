package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	// cpuPeriod is the length of demand that CPU time is stated for.
	cpuPeriod = 14 * day
	// reactiveWithin and forewarmWithin are the study's limits for one setting of a policy, in seconds.
	reactiveWithin, forewarmWithin = 2, 15
)

// cpuTime is what one setting of a policy takes for a cpuPeriod of each trace, in seconds.
type cpuTime struct {
	policy  benchPolicy
	seconds []float64
}

// measureCPU plays one setting of every policy on every trace that counts, one at a time and without cached forecasts. Priors
// from other traces are not included.
func measureCPU(trials []*trial, rivals []benchPolicy, progress io.Writer) ([]cpuTime, error) {
	var out []cpuTime
	for _, r := range rivals {
		if r.hindsight {
			continue
		}
		e := cpuTime{policy: r}
		for _, t := range trials {
			if !t.counts() {
				continue
			}
			seconds, err := t.uncached().measureCPU(r)
			if err != nil {
				return nil, fmt.Errorf("CPU time of %s on %s: %w", r.name, t.name, err)
			}
			e.seconds = append(e.seconds, seconds)
		}
		fmt.Fprintf(progress, "CPU time of %s: %.2f s per 14 days\n", r.name, e.seconds)
		out = append(out, e)
	}
	return out, nil
}

// uncached is the trial with one setting of each policy, and nothing cached but the priors from other traces.
func (t *trial) uncached() *trial {
	out := *t
	out.oneSetting, out.firstDayToo = true, false
	out.prepareOnce()
	out.windowPeakPrior, out.lateShares, out.rehearsed = t.windowPeakPrior, t.lateShares, t.rehearsed
	return &out
}

func (t *trial) measureCPU(r benchPolicy) (seconds float64, err error) {
	begun := cpu()
	_, err = t.sweep(r)
	return (cpu() - begun).Seconds() * float64(cpuPeriod) / float64(t.duration()), err
}

// sweptSettings are all settings of a sweep, or only the middle one (oneSetting).
func (t *trial) sweptSettings(settings []float64) []float64 {
	if t.oneSetting {
		return settings[len(settings)/2 : len(settings)/2+1]
	}
	return settings
}

// cpu is the CPU time that the process has used, in all threads.
func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func (e cpuTime) median() float64 {
	sorted := slices.Sorted(slices.Values(e.seconds))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func (s summary) cpuTable(text *strings.Builder) {
	if len(s.cpuTimes) == 0 {
		return
	}
	text.WriteString(
		"\n**CPU time of one setting over 14 days**, in seconds: the policy with the models whose forecasts it " +
			"reads, the HPA and the queue; without fitting priors\n\n" +
			"| policy | median | worst trace | goal |\n|---|--:|--:|--:|\n",
	)
	for _, e := range s.cpuTimes {
		within := "–"
		if e.policy.within > 0 {
			within = fmt.Sprintf("%g", e.policy.within)
		}
		fmt.Fprintf(text, "| %s | %.2f | %.2f | %s |\n", e.policy.name, e.median(), slices.Max(e.seconds), within)
	}
}

// cpuGoals bound the CPU time on the worst trace: of the slowest reactive policy, and of Forewarm.
func (s summary) cpuGoals() []goal {
	var out []goal
	for _, g := range []goal{
		{what: "CPU time of one setting over 14 days: the slowest reactive policy", most: reactiveWithin},
		{what: "CPU time of one setting over 14 days: forewarm", most: forewarmWithin},
	} {
		g.format, g.unplayed = asSeconds, true
		for _, e := range s.cpuTimes {
			if e.policy.within == g.most {
				g.got, g.unplayed = max(g.got, slices.Max(e.seconds)), false
			}
		}
		out = append(out, g)
	}
	return out
}
