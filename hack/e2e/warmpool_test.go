package e2e_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// The start times of the scenario: a node 15 s, a model server 6 s. At 20× they represent five and two minutes.
const (
	provision  = 15 * time.Second
	serverTime = 6 * time.Second
)

// A replica sustains 10: one replica is needed, and five in a surge.
const (
	calm  = 8.0
	surge = 48.0
)

// The namespaces, each with a workload of its own and the same demand. The comments describe their pools.
const (
	warm        = "warm"     // placeholders
	without     = "without"  // no pool
	buffered    = "buffered" // a CapacityBuffer
	budgeted    = "thrifty"  // a small budget
	recommended = "advised"  // mode Recommend
	unobserved  = "blinded"  // its demand disappears
)

// pulses are the surges of the demand: fifty seconds in every cycle.
type pulses struct{ next time.Time }

const (
	poolCycle = 180 * time.Second
	poolPulse = 50 * time.Second
	// keeps is how long the HPAs keep the replicas of a surge. The nodes are gone half a minute and more before the next one: a
	// busy machine that is late for one surge is ready for the next.
	keeps = 80 * time.Second
	// ahead is the least time between the creation of the pools and a surge: for a node, a server, and the kill of a
	// leader while they are full.
	ahead = 95 * time.Second
	// settle is the least time between the end of a surge and the creation of the workloads. Their autoscalers would
	// keep for minutes what they ask for at its last samples.
	settle = 12 * time.Second
)

func (p pulses) at(now time.Time) float64 {
	if since := (now.Sub(p.next)%poolCycle + poolCycle) % poolCycle; since < poolPulse {
		return surge
	}
	return calm
}

// after returns the first surge that begins at a time or later.
func (p pulses) after(from time.Time) time.Time {
	next := p.next
	for next.Before(from) {
		next = next.Add(poolCycle)
	}
	return next
}

func (p pulses) past(from time.Time, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = p.at(from.Add(time.Duration(i) * time.Second))
	}
	return out
}

// TestWarmPools: pools of every kind are filled before a periodic surge. Of two equal workloads only one has a pool;
// both scale on the observed demand.
func TestWarmPools(t *testing.T) {
	t.Parallel()
	s := setUp(t, clustertest.Options{Sync: time.Second, Stabilization: keeps, Bare: true})
	s.installBuffers(t)
	scaler := s.autoscale(t, provision, 10*time.Second)
	p := s.setPools(t)
	w := s.watchPools(t)
	for _, ns := range []string{warm, without, buffered, budgeted, recommended, unobserved} {
		s.active(t, ns, "llama", found)
	}
	w.waitFilled(t)
	p.next = p.after(time.Now())
	s.expectRecommended(t, w)
	s.budgetSpent(t, w)
	s.poolLeaderKilled(t, w, scaler)
	w.expectFallback(t)
	s.surges(t, w, p)
	w.expectBufferFollows(t)
	w.expectNoDuplicates(t, scaler)
	t.Logf("%s: idle GPU-hours paid: %.1f; node-hours: %.1f of %d nodes with a pool, %.1f of %d without", warm,
		w.idle(warm), scaler.hours(warm), scaler.nodesMade(warm), scaler.hours(without), scaler.nodesMade(without))
	t.Logf("%s: wanted/held/ready/borrowed about the surge:%s", warm, w.timeline(warm, p.next))
	t.Logf("%s: planned about the surge:%s", warm, w.plans(warm, p.next))
	s.expectReleased(t)
}

// setPools creates all namespaces and returns the surges.
func (s *stage) setPools(t *testing.T) pulses {
	t.Helper()
	now := time.Now()
	p := pulses{next: now.Add(poolCycle - poolPulse - settle)}
	all := []string{warm, without, buffered, budgeted, recommended, unobserved}
	for _, ns := range all {
		s.writePast(t, workloadKey{ns, "llama"}, time.Second,
			p.past(now.Add(-9*poolCycle), int(9*poolCycle/time.Second)))
		s.demand.follow(ns, "llama", func() float64 { return p.at(time.Now()) })
	}
	s.observe(t)
	s.forewarm(t, "deploy/default", 2, "--season="+poolCycle.String(), "--warm-pool-step=1s")
	if _, err := s.Kubectl(t.Context(), "", "apply", "--server-side", "-k", "deploy/warm-pools"); err != nil {
		t.Fatal(err)
	}
	for _, ns := range all {
		s.MustApply(t, namespace(ns))
	}
	next := p.after(time.Now().Add(ahead))
	// The capacity for an earlier surge would still be there: no workload is created before it is over.
	time.Sleep(time.Until(next.Add(poolPulse + settle - poolCycle)))
	for _, ns := range all {
		serving := strings.Replace(workload(ns, "llama", serverTime.String(), 1), "    spec:\n",
			fmt.Sprintf("    spec:\n      nodeSelector: {%s: %s}\n", shape, ns), 1)
		s.MustApply(t, serving, forecastOf(ns, "llama", "seasons: ["+poolCycle.String()+"]",
			"leadTime: {mode: Fixed, duration: "+serverTime.String()+"}", "staleAfter: 15s"),
			hpa(ns, "llama", "llama", external("llama", "serve: shadow")))
	}
	s.MustApply(t, warmPool(warm, "min: 2"), warmPool(buffered, "actuator: {capacityBuffer: {}}"),
		warmPool(budgeted, `budget: {idleGPUHoursPerDay: "0.003"}`, "fallback: 1"),
		warmPool(recommended, "mode: Recommend"), warmPool(unobserved, "fallback: 2"))
	t.Logf("pools after %.1f s, the surge is %.0f s ahead", time.Since(s.begin).Seconds(), time.Until(next).Seconds())
	return pulses{next: next}
}

// warmPool returns a pool of a workload, in mode Enforce unless the lines have another mode.
func warmPool(ns string, lines ...string) string {
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "mode:") }) {
		lines = append(lines, "mode: Enforce")
	}
	return fmt.Sprintf(`
apiVersion: forewarm.dev/v1alpha1
kind: WarmPool
metadata: {name: pool, namespace: %[1]s}
spec:
  members: [{forecast: llama}]
  max: 8
  leadTime: {mode: Fixed, duration: %[3]s}
  chunk:
    podTemplate:
      metadata: {labels: {app: llama}}
      spec:
        nodeSelector: {%[2]s: %[1]s}
        containers: [{name: server, image: model, resources: {limits: {nvidia.com/gpu: "1"}}}]
  %[4]s
`, ns, shape, provision, strings.Join(lines, "\n  "))
}

// waitFor waits until the newest observation of a pool is as wanted.
func (w *poolWatch) waitFor(t *testing.T, ns, what string, is func(moment) bool) moment {
	t.Helper()
	clustertest.MustEventually(t, func() string {
		if m := w.last(ns); !is(m) {
			return fmt.Sprintf("%s: not %s yet: %d placeholder pods of %d requested, buffer %d, status %+v", ns, what,
				m.alive, m.asked, m.buffer, m.status)
		}
		return ""
	})
	return w.last(ns)
}

// waitFilled: the surge is within the lead time of nodes, so places for its replicas are held.
func (w *poolWatch) waitFilled(t *testing.T) {
	t.Helper()
	for _, ns := range []string{warm, buffered} {
		m := w.waitFor(t, ns, "full", func(m moment) bool {
			return m.status.Held >= 4 && m.status.Ready == m.status.Held
		})
		t.Logf("%s: %d held and ready: %s", ns, m.status.Held, m.status.Message)
	}
}

// expectRecommended: the pool reports what it would hold, and holds nothing.
func (s *stage) expectRecommended(t *testing.T, w *poolWatch) {
	t.Helper()
	w.waitFor(t, recommended, "recommending", func(m moment) bool { return m.status.Wanted >= 4 })
	for _, m := range w.since(recommended, time.Time{}) {
		if m.deployments+m.alive > 0 || m.buffer >= 0 || m.status.Held > 0 {
			t.Fatalf("mode Recommend: %+v", m)
		}
	}
	if text := s.get(t, "warmpool", "pool", "-n", recommended, "-o", "jsonpath={.metadata.finalizers}"); text != "" {
		t.Errorf("mode Recommend: finalizers %s", text)
	}
}

// budgetSpent: beyond the budget only the fallback is held, and a condition reports it.
func (s *stage) budgetSpent(t *testing.T, w *poolWatch) {
	t.Helper()
	m := w.waitFor(t, budgeted, "over its budget, with one chunk", func(m moment) bool {
		return m.status.State == "OverBudget" && m.asked == 1 && m.alive == 1
	})
	t.Logf("%s: %s; idle today %s", budgeted, m.status.Message, m.status.IdleToday)
	condition := s.get(t, "warmpool", "pool", "-n", budgeted, "-o",
		`jsonpath={.status.conditions[?(@.type=="WithinBudget")].status}`)
	if condition != "False" {
		t.Errorf("WithinBudget is %q for a pool over its budget", condition)
	}
}

// poolLeaderKilled: while the pools are full, the leader is killed, and the demand of one disappears. The next leader
// continues with the same objects, creates nothing twice, and without a forecast holds at least the fallback. Plans
// may grow meanwhile, because the surge comes nearer.
func (s *stage) poolLeaderKilled(t *testing.T, w *poolWatch, scaler *autoscaler) {
	t.Helper()
	w.waitFor(t, unobserved, "full", func(m moment) bool { return m.status.Held >= 4 })
	objects := func() string {
		return s.get(t, "deployments,capacitybuffers,podtemplates", "-A", "-l", poolLabel, "-o",
			`jsonpath={range .items[*]}{.metadata.uid} {end}`)
	}
	uids, began := objects(), time.Now()
	counted := map[string]float64{warm: w.idleToday(t, warm), budgeted: w.idleToday(t, budgeted)}
	s.demand.follow(unobserved, "llama", math.NaN)
	s.killLeader(t)
	w.waitPlanned(t, time.Now())
	w.waitFor(t, unobserved, "falling back", func(m moment) bool { return m.status.State == "FallingBack" })
	if now := objects(); now != uids {
		t.Errorf("the objects changed with the leader: %s, before: %s", now, uids)
	}
	w.expectNoDuplicates(t, scaler)
	// The next leader continues the count of idle time. (It restarts at midnight UTC.)
	for ns, idle := range counted {
		if now := w.idleToday(t, ns); now < idle && time.Now().UTC().Day() == began.UTC().Day() {
			t.Errorf("%s: idle today is %g with the new leader, was %g before", ns, now, idle)
		}
	}
	for _, ns := range []string{warm, unobserved} {
		for _, m := range w.since(ns, began) {
			if m.deployments != 1 || m.asked < 2 {
				t.Fatalf("%s: %d Deployments request %d placeholder pods, want 1 for 2 or more", ns, m.deployments,
					m.asked)
			}
		}
	}
}

// holding returns the namespaces whose pools hold chunks.
func holding() []string { return []string{warm, buffered, budgeted, unobserved} }

// waitPlanned waits until each pool was planned after a time, by its memory.
func (w *poolWatch) waitPlanned(t *testing.T, after time.Time) {
	t.Helper()
	for _, ns := range holding() {
		then := w.waitFor(t, ns, "observed", func(m moment) bool { return m.at.After(after) })
		w.waitFor(t, ns, "planned", func(m moment) bool {
			return !equality.Semantic.DeepEqual(m.status.Memory, then.status.Memory)
		})
	}
}

// expectNoDuplicates: nothing was created twice until now. A status follows its plan with a delay.
func (w *poolWatch) expectNoDuplicates(t *testing.T, scaler *autoscaler) {
	t.Helper()
	for _, ns := range holding() {
		clustertest.MustEventually(t, func() string { return w.duplicates(ns, scaler.maxNodes(ns)) })
	}
}

// idleToday returns the idle GPU-hours in a pool's status.
func (w *poolWatch) idleToday(t *testing.T, ns string) float64 {
	t.Helper()
	text, _, _ := strings.Cut(w.last(ns).status.IdleToday, " ")
	hours, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("%s: idle today: %v", ns, err)
	}
	return hours
}

// expectFallback: without a forecast the pool shrinks to its fallback and no further. A status may be a few steps ahead of
// the Deployment, where a request conflicts with another one.
func (w *poolWatch) expectFallback(t *testing.T) {
	t.Helper()
	w.waitFor(t, unobserved, "down to its fallback", func(m moment) bool { return m.asked == 2 && m.alive == 2 })
	var less time.Time // when the pool began to hold less than its fallback
	for _, m := range w.since(unobserved, time.Time{}) {
		switch {
		case m.status.State != "FallingBack" || m.asked >= 2:
			less = time.Time{}
		case less.IsZero():
			less = m.at
			t.Logf("%s: %d chunks at %s: %s", unobserved, m.asked, m.at.Format(time.TimeOnly), m.status.Message)
		case m.at.Sub(less) > 5*time.Second:
			t.Fatalf("%s: %d chunks were held for %s, less than the fallback of 2", unobserved, m.asked, m.at.Sub(less))
		}
	}
	t.Logf("%s: %s", unobserved, w.last(unobserved).status.Message)
}

// surges: the replicas of one workload preempt placeholder pods and start on their nodes; those of the other wait for
// nodes.
func (s *stage) surges(t *testing.T, w *poolWatch, p pulses) {
	t.Helper()
	time.Sleep(time.Until(p.next))
	for _, ns := range []string{warm, without, buffered} {
		s.scaled(t, ns, "llama", 5)
	}
	mean := map[string]time.Duration{}
	for _, ns := range []string{warm, without, buffered} {
		mean[ns] = w.started(t, ns, p.next)
	}
	if mean[warm] >= mean[without] {
		t.Errorf("with a pool a replica took %s, without one %s: nothing is gained", mean[warm], mean[without])
	}
	t.Logf("minutes gained by replica: %.1f (%.1f against %.1f)",
		(mean[without]-mean[warm]).Minutes()*speed, mean[warm].Minutes()*speed, mean[without].Minutes()*speed)
	w.waitFor(t, warm, "full again", func(m moment) bool {
		return m.status.Held >= 2 && m.status.Ready == m.status.Held && m.alive == m.asked
	})
	t.Logf("%s: full again %.1f minutes after the surge began", warm, time.Since(p.next).Minutes()*speed)
}

// started waits for the four additional replicas of a surge, and returns their mean time to ready. Without a pool all
// of them wait for nodes, with a pool none does.
func (w *poolWatch) started(t *testing.T, ns string, from time.Time) (mean time.Duration) {
	t.Helper()
	var starts []replicaStart
	clustertest.MustEventually(t, func() string {
		var all bool
		if starts, all = w.starts(ns, from); !all || len(starts) != 4 {
			return fmt.Sprintf("%s: %d of 4 starts", ns, len(starts))
		}
		return ""
	})
	var waited, held int
	var took []time.Duration
	for _, one := range starts {
		mean += one.took / time.Duration(len(starts))
		took = append(took, one.took)
		if one.waited {
			waited++
		}
		if one.held {
			held++
		}
	}
	slices.Sort(took)
	t.Logf("%s: new replicas were ready after %s, %d of 4 on a node that was held", ns, took, held)
	if want := map[string]int{without: 4}[ns]; waited != want {
		t.Errorf("%s: %d of 4 replicas waited for a node, want %d", ns, waited, want)
	}
	if ns == warm && held < 3 {
		t.Errorf("%s: %d of 4 replicas are on nodes of placeholder pods, want 3 or more", ns, held)
	}
	return mean
}

// expectBufferFollows: the CapacityBuffer requests what the plan wants. It rises before the surge and falls when the
// replicas have their places.
func (w *poolWatch) expectBufferFollows(t *testing.T) {
	t.Helper()
	var course []int
	w.waitFor(t, buffered, "up and down again", func(moment) bool {
		course = nil
		for _, m := range w.since(buffered, time.Time{}) {
			if n := len(course); m.buffer >= 0 && (n == 0 || course[n-1] != m.buffer) {
				course = append(course, m.buffer)
			}
		}
		up := slices.IndexFunc(course, func(n int) bool { return n >= 4 })
		return up >= 0 && slices.Min(course[up:]) <= 2
	})
	all := w.since(buffered, time.Time{})
	apart := 0
	for i, m := range all {
		if m.buffer >= 0 && (m.status.Held != m.status.Wanted || !follows(all[i:])) {
			apart++
		}
	}
	t.Logf("%s: the buffer asked for %v", buffered, course)
	if apart > len(all)/20 {
		t.Errorf("%s: in %d of %d moments the buffer did not match the plan", buffered, apart, len(all))
	}
}

// follows reports whether the buffer of the first moment matches its status, or the next status: a status is written
// after the change.
func follows(all []moment) bool {
	now := all[0]
	next := slices.IndexFunc(all, func(m moment) bool { return m.status.Held != now.status.Held })
	return now.buffer == int(now.status.Held) || next > 0 && now.buffer == int(all[next].status.Held)
}

// expectReleased: with the pools all their objects are deleted, and then the nodes.
func (s *stage) expectReleased(t *testing.T) {
	t.Helper()
	if _, err := s.Kubectl(
		t.Context(), "", "delete", "warmpools", "-A", "--all", "--wait", "--timeout="+clustertest.CheckTimeout.String(),
	); err != nil {
		t.Fatal(err)
	}
	clustertest.MustEventually(t, func() string {
		left := s.get(t, "deployments,replicasets,pods,capacitybuffers,podtemplates", "-A", "-l", poolLabel, "-o",
			`jsonpath={range .items[*]}{.kind}/{.metadata.namespace}/{.metadata.name} {end}`)
		if left != "" {
			return "left of the pools: " + left
		}
		return ""
	})
	clustertest.MustEventually(t, func() string {
		nodes := strings.Count(s.get(t, "nodes", "-l", shape+"="+warm, "-o", "name"), "node/")
		if replicas, err := strconv.Atoi(s.get(t, "deployment", "llama", "-n", warm, "-o",
			"jsonpath={.spec.replicas}")); err != nil || nodes != replicas {
			return fmt.Sprintf("%d nodes for %d replicas (%v)", nodes, replicas, err)
		}
		return ""
	})
}
