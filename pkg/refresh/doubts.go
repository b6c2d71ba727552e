package refresh

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/printable"
)

// Doubts is a side query for numbers by which a value may not be the demand. None of them changes the value.
type Doubts struct {
	// Expr is PromQL with a series for each number, by DoubtLabel; empty for none.
	Expr string
	// Often says that it is asked whenever the signal is judged; else with the history.
	Often bool
	// Deleted is PromQL with a series for each deleted pod that is still reported, by the label pod.
	Deleted string
}

// DoubtLabel tells the series of a query for doubts apart, by the names below.
const DoubtLabel = "forewarm_doubt"

const (
	// DoubtSilent is the number of ready replicas that report nothing.
	DoubtSilent = "silent"
	// DoubtDeleted is the number of deleted pods that are still reported.
	DoubtDeleted = "deleted"
	// DoubtProfiling is the number of GPUs whose profiling field is 0 while they are busy.
	DoubtProfiling = "profiling"
	// DoubtCopies is how often one scrape is added up.
	DoubtCopies = "copies"
	// DoubtSamples is how many samples of a server are in the window of a rate, in the median.
	DoubtSamples = "samples"
)

// minSamplesInWindow is how many samples a rate needs to survive a missed one.
const minSamplesInWindow = 3

// doubts are the answers to a query for doubts.
type doubts struct {
	// numbers are those of the last two answers, the newest first.
	numbers [2]map[string]float64
	// deleted are the names of deleted pods that are still reported.
	deleted []string
}

// askDoubts asks what may be wrong with the value, where that is due.
func (w *worker) askDoubts(ctx context.Context, source Source, q Query, history bool) {
	of, ok := source.(LabelSource)
	d := &w.result.doubts
	if !ok || w.job.Doubts.Expr == "" || !history && (!w.job.Doubts.Often || !w.judgesAt(q.To.Add(q.Step))) {
		return
	}
	q.Expr, q.From = w.job.Doubts.Expr, q.To
	now, err := of.FetchByLabel(ctx, q, DoubtLabel)
	if err != nil {
		return
	}
	d.numbers = [2]map[string]float64{now, d.numbers[0]}
	if n, ok := now[DoubtSilent]; ok || w.job.Doubts.Often {
		w.result.silent = [2]float64{w.result.silent[1], n}
	}
	if d.deleted = nil; now[DoubtDeleted] > 0 {
		q.Expr = w.job.Doubts.Deleted
		if pods, err := of.FetchByLabel(ctx, q, "pod"); err == nil {
			d.deleted = slices.Sorted(maps.Keys(pods))
		}
	}
}

// condition is present while there is a doubt.
func (d *doubts) condition() (reason, message string) {
	newest := d.numbers[0]
	both := func(doubt string) float64 { return math.Min(newest[doubt], d.numbers[1][doubt]) }
	samples, known := newest[DoubtSamples]
	switch {
	case newest[DoubtCopies] > 1:
		return reasonCopiesAddUp, fmt.Sprintf(
			"the query adds up %.0f copies of one scrape, as those of an HA pair of Prometheus servers, so the "+
				"demand is too high: deduplicate them in the store, or take the greatest one first, for example "+
				"sum(max without (prometheus_replica) (…))",
			newest[DoubtCopies],
		)
	case both(DoubtProfiling) > 0:
		return reasonProfilingIdle, fmt.Sprintf(
			"the profiling field of %s is 0 while their utilization is above 50 %%, so their demand is missing: "+
				"profiling may be paused, or another tool holds it; check dcgm-exporter",
			humanize.Plural(int(both(DoubtProfiling)), "GPU"),
		)
	case known && samples < minSamplesInWindow:
		return reasonWindowTooShort, fmt.Sprintf(
			"the window of the query's rate has only %s of a server, so one missed scrape loses its demand: for a "+
				"preset the operator sets --scrape-interval to the interval of the scrapes; in a query of your own, use a window of four intervals",
			humanize.Plural(int(samples), "sample"),
		)
	}
	return "", ""
}

// deletedText names deleted pods that are still reported, after a semicolon; empty for none. It is no trouble: exporters forget such pods.
func (d *doubts) deletedText() string {
	n := d.numbers[0][DoubtDeleted]
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(
		"; an exporter still reports %s (%s), whose demand does not count: dcgm-exporter forgets them within half an hour",
		humanize.Plural(int(n), "deleted pod"),
		podNames(d.deleted),
	)
}

// podNames lists a few names.
func podNames(names []string) string {
	const most = 3
	var out []string
	for _, name := range names[:min(most, len(names))] {
		out = append(out, printable.Clip(printable.Line(name), 100))
	}
	if len(names) > most {
		out = append(out, fmt.Sprintf("%d more", len(names)-most))
	}
	return strings.Join(out, ", ")
}

// FetchByLabel implements LabelSource for a worker, with the slots of Fetch.
func (s slottedSource) FetchByLabel(ctx context.Context, q Query, label string) (map[string]float64, error) {
	of, ok := s.source.(LabelSource)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	release, err := s.slots.acquire(ctx, q.Namespace, q.Source.Name)
	if err != nil {
		return nil, err
	}
	defer release()
	if s.of.replaced.Load() {
		return nil, errReplaced
	}
	s.queries.Add(1)
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	return of.FetchByLabel(ctx, q, label)
}

// FetchByLabel implements LabelSource: nothing of it is in a batch.
func (s batchedSource) FetchByLabel(ctx context.Context, q Query, label string) (map[string]float64, error) {
	if of, ok := s.next.(LabelSource); ok {
		return of.FetchByLabel(ctx, q, label)
	}
	return nil, errors.ErrUnsupported
}

// doubtCondition is the condition SignalPlausible while there is a doubt.
func (r *result) doubtCondition() (c snapshot.Condition, ok bool) {
	c = snapshot.Condition{Type: snapshot.ConditionSignal}
	c.Reason, c.Message = r.doubts.condition()
	return c, c.Reason != ""
}
