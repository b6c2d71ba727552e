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
	// fortnight is the demand whose CPU time is told.
	fortnight = 14 * day
	// reactiveWithin and forewarmWithin are what the study allows to one setting of a policy, in seconds.
	reactiveWithin, forewarmWithin = 2, 15
)

// effort is the CPU time that one setting of a policy takes for a fortnight of each trace, in seconds.
type effort struct {
	rival   rival
	seconds []float64
}

// measure plays one setting of every policy on every trace that counts, one at a time and from the beginning: what the
// policy's models forecast is computed anew. What was learnt from other traces beforehand is not.
func measure(trials []*trial, rivals []rival, words io.Writer) ([]effort, error) {
	var out []effort
	for _, r := range rivals {
		if r.hindsight {
			continue
		}
		e := effort{rival: r}
		for _, t := range trials {
			if !t.counts() {
				continue
			}
			seconds, err := t.afresh().effort(r)
			if err != nil {
				return nil, fmt.Errorf("CPU time of %s on %s: %w", r.name, t.name, err)
			}
			e.seconds = append(e.seconds, seconds)
		}
		fmt.Fprintf(words, "CPU time of %s: %.2f s a fortnight\n", r.name, e.seconds)
		out = append(out, e)
	}
	return out, nil
}

// afresh is the trial with one setting of each policy, and nothing computed yet but what comes from other traces.
func (t *trial) afresh() *trial {
	out := *t
	out.oneSetting, out.cold = true, false
	out.share()
	out.shape, out.lates, out.rehearsed = t.shape, t.lates, t.rehearsed
	return &out
}

func (t *trial) effort(r rival) (seconds float64, err error) {
	begun := cpu()
	_, err = t.sweep(r)
	return (cpu() - begun).Seconds() * float64(fortnight) / float64(t.duration()), err
}

// some are the settings of a sweep: all of them, or the one in the middle where one will do.
func (t *trial) some(settings []float64) []float64 {
	if t.oneSetting {
		return settings[len(settings)/2 : len(settings)/2+1]
	}
	return settings
}

// cpu is the CPU time that the process has used, in all of its threads.
func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func (e effort) median() float64 {
	sorted := slices.Sorted(slices.Values(e.seconds))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func (s summary) effortTable(text *strings.Builder) {
	if len(s.efforts) == 0 {
		return
	}
	text.WriteString(
		"\n**CPU time of one setting over 14 days**, in seconds: the policy with the models whose forecasts it " +
			"reads, the HPA and the queue; without what is learnt from other traces beforehand\n\n" +
			"| policy | median | worst trace | goal |\n|---|--:|--:|--:|\n",
	)
	for _, e := range s.efforts {
		within := "–"
		if e.rival.within > 0 {
			within = fmt.Sprintf("%g", e.rival.within)
		}
		fmt.Fprintf(text, "| %s | %.2f | %.2f | %s |\n", e.rival.name, e.median(), slices.Max(e.seconds), within)
	}
}

// effortGoals bound the CPU time on the worst trace: of the slowest of the reactive policies, and of forewarm.
func (s summary) effortGoals() []goal {
	var out []goal
	for _, g := range []goal{
		{what: "CPU time of one setting over 14 days: the slowest reactive policy", most: reactiveWithin},
		{what: "CPU time of one setting over 14 days: forewarm", most: forewarmWithin},
	} {
		g.format, g.unplayed = asSeconds, true
		for _, e := range s.efforts {
			if e.rival.within == g.most {
				g.got, g.unplayed = max(g.got, slices.Max(e.seconds)), false
			}
		}
		out = append(out, g)
	}
	return out
}
