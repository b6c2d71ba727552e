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

	"github.com/forewarm/forewarm/hack/e2e/cluster"
)

// What the pools' scenario takes: a node 15 s, a model server 6 s; in life that is, twenty times slower, five and two
// minutes.
const (
	provision  = 15 * time.Second
	serverTime = 6 * time.Second
)

// The demand of a replica is ten: one replica, and five while a pulse lasts.
const (
	calm  = 8.0
	surge = 48.0
)

// The namespaces, each with a workload of its own and the same demand, and what is particular about its pool.
const (
	warm     = "warm"     // placeholders
	without  = "without"  // no pool
	buffered = "buffered" // a CapacityBuffer
	thrifty  = "thrifty"  // a budget that is soon spent
	advised  = "advised"  // mode Recommend
	blinded  = "blinded"  // its demand is not seen any more
)

// pulses is when the demand surges: for fifty seconds in every cycle.
type pulses struct{ next time.Time }

const (
	poolCycle = 160 * time.Second
	poolPulse = 50 * time.Second
	// ahead is how long before a surge the pools are made at least: they want a node and a server, and a leader to be
	// killed while they are full.
	ahead = 75 * time.Second
)

func (p pulses) at(now time.Time) float64 {
	if since := (now.Sub(p.next)%poolCycle + poolCycle) % poolCycle; since < poolPulse {
		return surge
	}
	return calm
}

// after is the first surge that begins at a time or after it.
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

// TestWarmPools: pools of every kind see a surge coming that comes in every cycle; of two equal workloads one has a
// pool, the other has none, and both are scaled by the demand as it is.
func TestWarmPools(t *testing.T) {
	t.Parallel()
	s := setUp(t, cluster.Options{Sync: time.Second, Stabilization: 2 * time.Minute, Bare: true})
	s.installBuffers(t)
	scaler := s.autoscale(t, provision, 10*time.Second)
	p := s.setPools(t)
	w := s.watchPools(t)
	for _, ns := range []string{warm, without, buffered, thrifty, advised, blinded} {
		s.active(t, ns, "llama", found)
	}
	w.filled(t)
	s.recommended(t, w)
	s.budgetSpent(t, w)
	s.poolLeaderKilled(t, w, scaler)
	w.keptBlind(t)
	s.surges(t, w, p)
	w.followed(t)
	w.neverTwice(t, scaler)
	t.Logf(
		"%s: idle GPU-hours paid: %.1f; node-hours: %.1f of %d nodes with a pool, %.1f of %d without",
		warm,
		w.idle(warm),
		scaler.hours(warm),
		scaler.bought(warm),
		scaler.hours(without),
		scaler.bought(without),
	)
	t.Logf("%s: wanted/held/ready/borrowed about the surge:%s", warm, w.course(warm, p.next))
	t.Logf("%s: planned about the surge:%s", warm, w.plans(warm, p.next))
	s.givenBack(t)
}

// setPools makes all namespaces and returns when the demand surges.
func (s *stage) setPools(t *testing.T) pulses {
	t.Helper()
	now := time.Now()
	p := pulses{next: now.Add(poolCycle - poolPulse)}
	all := []string{warm, without, buffered, thrifty, advised, blinded}
	for _, ns := range all {
		s.writePast(
			t,
			workloadKey{ns, "llama"},
			time.Second,
			p.past(now.Add(-9*poolCycle), int(9*poolCycle/time.Second)),
		)
		s.demand.follow(ns, "llama", func() float64 { return p.at(time.Now()) })
	}
	s.observe(t)
	s.forewarm(t, "deploy/default", 2, "--season="+poolCycle.String(), "--warm-pool-step=1s")
	next := p.after(time.Now().Add(ahead))
	// What a surge before that asks for would still be there then: nothing is made before it is over.
	time.Sleep(time.Until(next.Add(poolPulse - poolCycle)))
	if _, err := s.Kubectl(t.Context(), "", "apply", "--server-side", "-k", "deploy/warm-pools"); err != nil {
		t.Fatal(err)
	}
	for _, ns := range all {
		serving := strings.Replace(workload(ns, "llama", serverTime.String(), 1), "    spec:\n",
			fmt.Sprintf("    spec:\n      nodeSelector: {%s: %s}\n", shape, ns), 1)
		s.apply(t, namespace(ns), serving, forecastOf(ns, "llama", "seasons: ["+poolCycle.String()+"]",
			"leadTime: {mode: Fixed, duration: "+serverTime.String()+"}", "staleAfter: 15s"),
			hpa(ns, "llama", "llama", external("llama", "serve: shadow")))
	}
	s.apply(t, warmPool(warm, "min: 2"), warmPool(buffered, "actuator: {capacityBuffer: {}}"),
		warmPool(thrifty, `budget: {idleGPUHoursPerDay: "0.003"}`, "fallback: 1"),
		warmPool(advised, "mode: Recommend"), warmPool(blinded, "fallback: 2"))
	t.Logf("pools after %.1f s, the surge is %.0f s ahead", time.Since(s.begin).Seconds(), time.Until(next).Seconds())
	return pulses{next: next}
}

// warmPool is one of a workload, in mode Enforce unless lines of its spec say otherwise.
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

// told waits until the newest moment of a pool is as it is wanted.
func (w *poolWatch) told(t *testing.T, ns, what string, is func(moment) bool) moment {
	t.Helper()
	eventually(t, func() string {
		if m := w.last(ns); !is(m) {
			return fmt.Sprintf(
				"%s: not %s yet: %d placeholders of %d asked for, buffer %d, status %+v",
				ns,
				what,
				m.alive,
				m.asked,
				m.buffer,
				m.status,
			)
		}
		return ""
	})
	return w.last(ns)
}

// filled: the surge is within the time in which nodes come, so that its replicas' places are held.
func (w *poolWatch) filled(t *testing.T) {
	t.Helper()
	for _, ns := range []string{warm, buffered} {
		m := w.told(t, ns, "full", func(m moment) bool {
			return m.status.Held >= 4 && m.status.Ready == m.status.Held
		})
		t.Logf("%s: %d held and ready: %s", ns, m.status.Held, m.status.Why)
	}
}

// recommended: the pool says what it would hold, and nothing is there.
func (s *stage) recommended(t *testing.T, w *poolWatch) {
	t.Helper()
	w.told(t, advised, "of that opinion", func(m moment) bool { return m.status.Wanted >= 4 })
	for _, m := range w.since(advised, time.Time{}) {
		if m.deployments+m.alive > 0 || m.buffer >= 0 || m.status.Held > 0 {
			t.Fatalf("mode Recommend: %+v", m)
		}
	}
	if text := s.get(t, "warmpool", "pool", "-n", advised, "-o", "jsonpath={.metadata.finalizers}"); text != "" {
		t.Errorf("mode Recommend: finalizers %s", text)
	}
}

// budgetSpent: idle time has its bound, beyond which the fallback is held, and a condition says so.
func (s *stage) budgetSpent(t *testing.T, w *poolWatch) {
	t.Helper()
	m := w.told(t, thrifty, "over its budget, with one chunk", func(m moment) bool {
		return m.status.State == "OverBudget" && m.asked == 1 && m.alive == 1
	})
	t.Logf("%s: %s; idle today %s", thrifty, m.status.Why, m.status.IdleToday)
	condition := s.get(t, "warmpool", "pool", "-n", thrifty, "-o",
		`jsonpath={.status.conditions[?(@.type=="WithinBudget")].status}`)
	if condition != "False" {
		t.Errorf("the condition WithinBudget is %q of a pool that has spent it", condition)
	}
}

// poolLeaderKilled: while the pools are full, whoever holds them is killed, and a Forecast is not seen any more. The next
// leader goes on with the very same objects, makes nothing a second time, and where it is blind, holds no less than the
// fallback. What is planned may become more meanwhile: the surge comes nearer.
func (s *stage) poolLeaderKilled(t *testing.T, w *poolWatch, scaler *autoscaler) {
	t.Helper()
	w.told(t, blinded, "full", func(m moment) bool { return m.status.Held >= 4 })
	objects := func() string {
		return s.get(t, "deployments,capacitybuffers,podtemplates", "-A", "-l", byPool, "-o",
			`jsonpath={range .items[*]}{.metadata.uid} {end}`)
	}
	uids, began := objects(), time.Now()
	counted := map[string]float64{warm: w.idleToday(t, warm), thrifty: w.idleToday(t, thrifty)}
	s.demand.follow(blinded, "llama", math.NaN)
	s.killLeader(t)
	w.keptOn(t, time.Now())
	w.told(t, blinded, "falling back", func(m moment) bool { return m.status.State == "FallingBack" })
	if now := objects(); now != uids {
		t.Errorf("after a change of the leader there are other objects: %s, before: %s", now, uids)
	}
	w.neverTwice(t, scaler)
	// What one leader has counted, the next goes on with. (At midnight UTC it begins anew.)
	for ns, idle := range counted {
		if now := w.idleToday(t, ns); now < idle && time.Now().UTC().Day() == began.UTC().Day() {
			t.Errorf("%s: idle today %g after a change of the leader, %g before", ns, now, idle)
		}
	}
	for _, ns := range []string{warm, blinded} {
		for _, m := range w.since(ns, began) {
			if m.deployments != 1 || m.asked < 2 {
				t.Fatalf("%s: %d Deployments ask for %d placeholders, want 1 for 2 or more", ns, m.deployments, m.asked)
			}
		}
	}
}

// holding are the namespaces whose pools hold chunks.
func holding() []string { return []string{warm, buffered, thrifty, blinded} }

// keptOn waits until each pool was planned for after a time, as its memory shows.
func (w *poolWatch) keptOn(t *testing.T, after time.Time) {
	t.Helper()
	for _, ns := range holding() {
		then := w.told(t, ns, "looked at", func(m moment) bool { return m.at.After(after) })
		w.told(t, ns, "planned for", func(m moment) bool {
			return !equality.Semantic.DeepEqual(m.status.Memory, then.status.Memory)
		})
	}
}

// neverTwice: nothing was made twice until now. A status says what was planned a little after it was done.
func (w *poolWatch) neverTwice(t *testing.T, scaler *autoscaler) {
	t.Helper()
	for _, ns := range holding() {
		eventually(t, func() string { return w.twice(ns, scaler.most(ns)) })
	}
}

// idleToday are the GPU-hours that a pool's status has counted.
func (w *poolWatch) idleToday(t *testing.T, ns string) float64 {
	t.Helper()
	text, _, _ := strings.Cut(w.last(ns).status.IdleToday, " ")
	hours, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("%s: idle today: %v", ns, err)
	}
	return hours
}

// keptBlind: with no forecast the pool goes down to its fallback and no further.
func (w *poolWatch) keptBlind(t *testing.T) {
	t.Helper()
	w.told(t, blinded, "down to its fallback", func(m moment) bool { return m.asked == 2 && m.alive == 2 })
	least := 8
	for _, m := range w.since(blinded, time.Time{}) {
		if m.status.State == "FallingBack" {
			least = min(least, m.asked)
		}
	}
	if least < 2 {
		t.Errorf("%s: %d were held with a fallback of 2", blinded, least)
	}
	t.Logf("%s: never less than %d: %s", blinded, least, w.last(blinded).status.Why)
}

// surges: the replicas of one workload put placeholders out and start on their nodes; those of the other wait for nodes.
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
		t.Errorf("with a pool a replica took %s, without %s: nothing is gained", mean[warm], mean[without])
	}
	t.Logf("minutes gained by replica: %.1f (%.1f against %.1f)",
		(mean[without]-mean[warm]).Minutes()*speed, mean[warm].Minutes()*speed, mean[without].Minutes()*speed)
	w.told(t, warm, "full again", func(m moment) bool {
		return m.status.Held >= 2 && m.status.Ready == m.status.Held && m.alive == m.asked
	})
	t.Logf("%s: full again %.1f minutes after the surge began", warm, time.Since(p.next).Minutes()*speed)
}

// started waits for the four replicas that a surge asks for, and returns their mean time to ready. Without a pool all of
// them wait for nodes, with one none does.
func (w *poolWatch) started(t *testing.T, ns string, from time.Time) (mean time.Duration) {
	t.Helper()
	var starts []replicaStart
	eventually(t, func() string {
		var all bool
		if starts, all = w.starts(ns, from); !all || len(starts) != 4 {
			return fmt.Sprintf("%s: %d of 4 starts were seen", ns, len(starts))
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
	if ns == warm && held != 4 {
		t.Errorf("%s: %d of 4 replicas are on nodes that placeholders held", ns, held)
	}
	return mean
}

// followed: what the CapacityBuffer asks for is what the forecasts ask for, and both go up before the surge and down when
// its replicas have their places.
func (w *poolWatch) followed(t *testing.T) {
	t.Helper()
	var course []int
	w.told(t, buffered, "up and down again", func(moment) bool {
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
		t.Errorf("%s: in %d of %d moments the buffer was not what the forecasts asked for", buffered, apart, len(all))
	}
}

// follows says whether the buffer of the first of some moments is what its status says, or what it says next: a status is
// written after what it is about is done.
func follows(all []moment) bool {
	now := all[0]
	next := slices.IndexFunc(all, func(m moment) bool { return m.status.Held != now.status.Held })
	return now.buffer == int(now.status.Held) || next > 0 && now.buffer == int(all[next].status.Held)
}

// givenBack: with the pools goes all that they held, and the nodes after it.
func (s *stage) givenBack(t *testing.T) {
	t.Helper()
	if _, err := s.Kubectl(
		t.Context(),
		"",
		"delete",
		"warmpools",
		"-A",
		"--all",
		"--wait",
		"--timeout="+patience.String(),
	); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() string {
		left := s.get(t, "deployments,replicasets,pods,capacitybuffers,podtemplates", "-A", "-l", byPool, "-o",
			`jsonpath={range .items[*]}{.kind}/{.metadata.namespace}/{.metadata.name} {end}`)
		if left != "" {
			return "left of the pools: " + left
		}
		return ""
	})
	eventually(t, func() string {
		nodes := strings.Count(s.get(t, "nodes", "-l", shape+"="+warm, "-o", "name"), "node/")
		if replicas, err := strconv.Atoi(s.get(t, "deployment", "llama", "-n", warm, "-o",
			"jsonpath={.spec.replicas}")); err != nil || nodes != replicas {
			return fmt.Sprintf("%d nodes for %d replicas (%v)", nodes, replicas, err)
		}
		return ""
	})
}
