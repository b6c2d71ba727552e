package e2e_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// speed is how much faster a trace is replayed: a start of 20 s represents nearly seven minutes.
const speed = 20

// start is how long a model server takes to start, in replay time.
const start = 20 * time.Second

// length of the replay, from three minutes before the rise.
const length = 23 * time.Minute / speed

// TestRise replays the largest ten-minute rise of a trace's last day for two equal workloads: one HPA scales on the
// forecast, the other, with the same spec, on the observed value. Then follows a burst, which cannot be forecast.
func TestRise(t *testing.T) {
	t.Parallel()
	s := setUp(t, clustertest.Options{Sync: time.Second, Stabilization: 15 * time.Second})
	r := openRecording(t)
	rise := r.largestRise()
	minute := int(time.Minute / r.Step)
	begin := rise - 3*minute
	target := r.peak(begin, rise+20*minute) / 14
	s.writePast(t, workloadKey{"rise", "demand"}, time.Duration(float64(r.Step)/speed),
		r.Values[max(0, begin-14*24*60*minute):begin])
	s.demand.set("rise", "demand", r.Values[begin])
	s.observe(t)
	// A day is shorter by the speed of the replay.
	s.forewarm(t, "deploy/default", 1, "--season="+(24*time.Hour/speed).String())
	s.MustApply(t, riseManifests(r, target, int(math.Ceil(r.Values[begin]/target))))

	ahead, behind := &served{target: target}, &served{target: target}
	client, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	watch := func(elapsed time.Duration, demand float64) {
		for name, w := range map[string]*served{"ahead": ahead, "behind": behind} {
			d, err := client.AppsV1().Deployments("rise").Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			w.note(elapsed, demand, int(d.Status.ReadyReplicas))
		}
	}
	s.waitSettled(t, client)
	t.Logf("settled after %.1f s", time.Since(s.begin).Seconds())
	trace := func(elapsed time.Duration) float64 {
		return r.at(float64(begin) + float64(elapsed)*speed/float64(r.Step))
	}
	s.replay(t, trace, length, watch)
	t.Logf("rise: minutes gained: %.1f (unserved %.1f %% against %.1f %%; replica-minutes %.0f against %.0f)",
		gained(ahead, behind)*speed, 100*ahead.unserved(), 100*behind.unserved(),
		ahead.replicaMinutes()*speed, behind.replicaMinutes()*speed)
	t.Log(s.get(t, "outlooks", "-n", "rise", "-o", "wide"))
	if ahead.unserved() >= behind.unserved() || gained(ahead, behind) <= 0 {
		t.Errorf("the forecast gained nothing\n%s", s.get(t, "fc,hpa", "-n", "rise", "-o", "wide"))
	}

	*ahead, *behind = served{target: target}, served{target: target}
	level := trace(35 * time.Minute / speed)
	s.replay(t, func(time.Duration) float64 { return 2 * level }, 30*time.Second, watch)
	t.Logf("burst: minutes gained: %.1f (unserved %.1f %% against %.1f %%)",
		gained(ahead, behind)*speed, 100*ahead.unserved(), 100*behind.unserved())
	if ahead.unserved() > behind.unserved()+0.02 {
		t.Error("in a burst the forecast is worse than the observed value")
	}
}

// waitSettled waits until both workloads have all their replicas.
func (s *stage) waitSettled(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	for _, name := range []string{"ahead", "behind"} {
		s.active(t, "rise", name, found)
		clustertest.MustEventually(t, func() string {
			d, err := client.AppsV1().Deployments("rise").Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			if d.Status.ReadyReplicas != *d.Spec.Replicas {
				return fmt.Sprintf("%s: %d of %d replicas", name, d.Status.ReadyReplicas, *d.Spec.Replicas)
			}
			return ""
		})
	}
}

func (r recording) peak(from, to int) float64 {
	peak := 0.0
	for _, v := range r.Values[from:to] {
		peak = max(peak, v)
	}
	return peak
}

func riseManifests(r recording, target float64, replicas int) string {
	out := []string{namespace("rise"), forecastOf("rise", "demand", "targetRef: {kind: Deployment, name: ahead}",
		"step: "+time.Duration(float64(r.Step)/speed).String(), "history: 36h",
		fmt.Sprintf("leadTime: {mode: Fixed, duration: %s}", start),
		// By quantile: the headroom of an objective is learned for real lead times, not for much shorter ones.
		`quantile: "0.95"`)}
	for name, selector := range map[string]string{"ahead": "", "behind": "serve: shadow"} {
		scaler := hpa("rise", name, name,
			strings.Replace(external("demand", selector), `"10"`, fmt.Sprintf(`"%.0f"`, target), 1))
		scaler = strings.Replace(scaler, "maxReplicas: 20",
			"maxReplicas: 32\n  behavior: {scaleUp: {tolerance: \"0\"}}", 1)
		out = append(out, workload("rise", name, start.String(), replicas), scaler)
	}
	return strings.Join(out, "\n---\n")
}

// served is how a workload served its demand.
type served struct {
	target          float64
	last            time.Duration
	demand, missing float64
	replicas        float64 // integral, in replica-minutes
	needed, ready   []time.Duration
}

// note records a tick: the demand, and how many replicas were ready.
func (s *served) note(elapsed time.Duration, demand float64, ready int) {
	dt := (elapsed - s.last).Seconds()
	s.last = elapsed
	s.demand += demand * dt
	s.missing += max(0, demand-float64(ready)*s.target) * dt
	s.replicas += float64(ready) * dt / 60
	s.needed = reach(s.needed, int(math.Ceil(demand/s.target)), elapsed)
	s.ready = reach(s.ready, ready, elapsed)
}

// reach records when each number of replicas was reached for the first time.
func reach(times []time.Duration, n int, now time.Duration) []time.Duration {
	for len(times) <= n {
		times = append(times, now)
	}
	return times
}

func (s *served) unserved() float64       { return s.missing / s.demand }
func (s *served) replicaMinutes() float64 { return s.replicas }

// gained returns by how many minutes the replicas of one were ready before those of the other: the mean over every
// additional replica that the demand needed. Replicas that were never ready count as ready at the end.
func gained(ahead, behind *served) float64 {
	sum, n := 0.0, 0
	for k := range ahead.needed {
		if ahead.needed[k] == 0 {
			continue // Needed from the beginning.
		}
		sum += (behind.reached(k) - ahead.reached(k)).Minutes()
		n++
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

func (s *served) reached(k int) time.Duration {
	if k < len(s.ready) {
		return s.ready[k]
	}
	return s.last
}
