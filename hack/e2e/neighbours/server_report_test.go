package neighbours_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	stock "github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/offline/simulate"

	"github.com/forewarm/forewarm/hack/e2e/modelserver"
)

// result is what a scene came to.
type result struct {
	scene
	minutes, median, p95, late float64
	// failed are the requests without an answer in three minutes, and in three tries.
	failed int
	// stopped are the replicas that were stopped, open the requests that they had not answered in full then, and cut those that they never
	// did, or refused.
	stopped, open, cut int
	// inFlight, offered and work are the lateness by Forewarm's model of replicas: on the replicas that were ready, for what two signals
	// show, and for the work that arrived.
	inFlight, offered, work float64
}

// results are those of all scenes, by load and autoscaler.
func (s *serverStage) results(t *testing.T) (out []result) {
	t.Helper()
	for i := range s.scenes {
		ns := s.scenes[i].namespace()
		sent, tape := s.senders[ns], s.tapes[ns]
		r := result{
			scene: s.scenes[i], minutes: s.fleet.seconds(ns, s.begin, s.begin.Add(loadLength)) / 60,
			median: sent.quantile(.5), p95: sent.quantile(.95), late: sent.late(), failed: sent.failed,
		}
		r.stopped, r.open = s.fleet.stopped(ns)
		r.cut = sent.cut
		ready := tape.column(func(m moment) float64 { return m.ready })
		demand, work := tape.column(func(m moment) float64 { return m.demand / batch }), make([]float64, len(tape))
		for _, a := range s.trace.load(r.load, 0, loadLength) {
			work[min(int(a.At/demandStep), len(work)-1)] += float64(modelserver.Default().Work(a)) / float64(demandStep)
		}
		asReady := sim.Spec{Sync: demandStep, PodLead: sim.Constant(0)}
		offered := s.preset(t, "vllm/offered", ns)
		for k := range offered {
			offered[k] /= batch
		}
		r.inFlight, r.offered = played(t, ready, demand, asReady), played(t, ready, offered, asReady)
		r.work = played(t, ready, work, asReady)
		if r.foreseen() {
			served := tape.column(func(m moment) float64 { return m.served / batch })
			behind := sim.Spec{Sync: sim.DefaultSync, PodLead: sim.Constant(startUp)}
			behind.HPA.Cluster.Tolerance = stock.DefaultCluster().Tolerance
			t.Logf("%s: with simulated replicas, too, %.2f %% late by the requests in flight, %.2f %% by the work", ns,
				100*played(t, served, demand, behind), 100*played(t, served, work, behind))
			t.Logf("%s: Forewarm: %s", ns, s.headline(t, ns))
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b result) int { return strings.Compare(a.namespace(), b.namespace()) })
	return out
}

// headline is what Forewarm itself says of the last hour, most of which is before the loads.
func (s *serverStage) headline(t *testing.T, namespace string) string {
	t.Helper()
	return s.MustKubectl(t, "get", "forecast", "llama", "-n", namespace, "-o", "jsonpath={.status.objective.headline}")
}

// batch is what a replica sustains: its sequences.
const batch = 16

// played is the lateness of a demand behind an HPA that reads values, both in replicas.
func played(t *testing.T, values, demand []float64, spec sim.Spec) float64 {
	t.Helper()
	spec.Capacity, spec.Wait = 1, lateAfter
	spec.HPA.Min, spec.HPA.Max = 1, 100
	spec.HPA.Metrics = []stock.Metric{{Source: stock.External, Type: stock.AverageValue, Target: 1000}}
	every := int(spec.Sync / demandStep)
	var read []float64
	for i := 0; i < len(values); i += every {
		read = append(read, values[i])
	}
	config := simulate.Config{Demand: forecast.Series{Step: demandStep, Values: demand}, Spec: spec}
	got, err := simulate.Run(config, simulate.NewTape(read))
	if err != nil {
		t.Fatal(err)
	}
	return got.LateShare()
}

// report logs the results as a table.
func report(t *testing.T, all []result) {
	t.Helper()
	out := []string{
		"",
		"| load | autoscaler | GPU-minutes | TTFT p50 | p95 | over 5 s | by requests in flight | by offered load | by work | failed " +
			"| stopped | requests then | cut |",
		"|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
	}
	for i := range all {
		r := &all[i]
		out = append(
			out,
			fmt.Sprintf(
				"| %s | %s | %.1f | %.2f s | %.1f s | %.2f %% | %.2f %% | %.2f %% | %.2f %% | %d | %d | %d | %d |",
				r.load,
				r.policy,
				r.minutes,
				r.median,
				r.p95,
				100*r.late,
				100*r.inFlight,
				100*r.offered,
				100*r.work,
				r.failed,
				r.stopped,
				r.open,
				r.cut,
			),
		)
		if r.policy == forewarms {
			out = append(out, r.equals(all)...)
		}
	}
	t.Log(strings.Join(out, "\n"))
}

// equals are rows with what HPAs come to at as many GPU-minutes, on the line through their two targets.
func (r *result) equals(all []result) (out []string) {
	for _, kind := range []string{"hpa-queue", "hpa-inflight", "hpa-cache"} {
		other := func(o result) bool { return o.load != r.load || !strings.HasPrefix(o.policy, kind) || o.picker }
		pair := slices.DeleteFunc(slices.Clone(all), other)
		a, b := &pair[0], &pair[1]
		share := (r.minutes - a.minutes) / (b.minutes - a.minutes)
		const row = "| %s | %s, %.1f of the way between its targets | %.1f | | %.1f s | %.2f %% | | | | | | | |"
		out = append(out, fmt.Sprintf(row, r.load, kind, share, r.minutes, a.p95+share*(b.p95-a.p95),
			100*(a.late+share*(b.late-a.late))))
	}
	return out
}

// check reports a foreseeable load of which the model of replicas is more than 1.5 times and four points from what was measured (less is
// what one sync more or less in a burst comes to; below 2 % it is single requests), or the offered load no nearer, in points, than the requests in flight, and requests that failed with Forewarm. A picker
// knows more than the model, which takes turns.
func check(t *testing.T, r *result) {
	t.Helper()
	checkCut(t, r)
	if r.foreseen() && r.failed > 0 && !r.unprotected() {
		t.Errorf("%s: %d requests failed", r.namespace(), r.failed)
	}
	if r.unprotected() {
		return
	}
	if r.load != "rise" || r.late < .02 {
		return
	}
	off := func(simulated float64) float64 { return math.Abs(math.Log(simulated / r.late)) }
	if !r.picker && off(r.work) > math.Log(1.5) && math.Abs(r.work-r.late) > .04 {
		t.Errorf("%s: %.2f %% late by the model of replicas, %.2f %% measured", r.namespace(), 100*r.work, 100*r.late)
	}
	if math.Abs(r.offered-r.late) > math.Abs(r.inFlight-r.late) {
		t.Errorf(
			"%s: %.2f %% late by the offered load and %.2f %% by the requests in flight, %.2f %% measured",
			r.namespace(),
			100*r.offered,
			100*r.inFlight,
			100*r.late,
		)
	}
}

// checkCut reports requests that a scale-down cut, and a load that falls without a replica that was stopped. With the defaults of Kubernetes
// and vLLM some must be cut: else no one would see it where they are.
func checkCut(t *testing.T, r *result) {
	t.Helper()
	switch {
	case r.load == "rise" && r.foreseen() && r.open == 0:
		t.Errorf("%s: %d replicas were stopped, with no request in flight", r.namespace(), r.stopped)
	case r.unprotected() && r.cut == 0:
		t.Errorf("%s: no request was cut, of %d on %d replicas that were stopped", r.namespace(), r.open, r.stopped)
	case !r.unprotected() && r.cut > 0:
		t.Errorf("%s: %d requests were cut, want 0", r.namespace(), r.cut)
	}
}

// checkModel reports a model of replicas that is more than 1.3 times from what was measured in all scenes of the rise together, where the
// luck of single bursts is no more.
func checkModel(t *testing.T, all []result) {
	t.Helper()
	var simulated, measured float64
	for i := range all {
		if r := &all[i]; r.load == "rise" && !r.picker && !r.unprotected() {
			simulated, measured = simulated+r.work, measured+r.late
		}
	}
	t.Logf(
		"the model of replicas is %.2f times as late as measured in all scenes of the rise together",
		simulated/measured,
	)
	if math.Abs(math.Log(simulated/measured)) > math.Log(1.3) {
		t.Errorf("late by the model of replicas %.3f times as much as measured", simulated/measured)
	}
}

// killed: the picker of a scene is killed under load. What Forewarm serves stays, and no request fails.
func (s *serverStage) killed(t *testing.T, namespace string) {
	t.Helper()
	mean := func(from, to time.Duration) float64 {
		sum := 0.0
		part := s.tapes[namespace][from/demandStep : to/demandStep]
		for _, m := range part {
			sum += m.served
		}
		return sum / float64(len(part))
	}
	before, after := mean(killAt-3*time.Minute, killAt), mean(killAt, killAt+3*time.Minute)
	t.Logf("%s: %.1f was served before the picker was killed, %.1f after", namespace, before, after)
	if after < .8*before {
		t.Errorf("%s: %.1f is served after the picker was killed, %.1f before", namespace, after, before)
	}
}

// killAt is when a picker is killed.
const killAt = 12 * time.Minute
