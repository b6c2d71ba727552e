package e2e_test

import (
	"fmt"
	"math"
	"os"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// soakReport is what a soak measured.
type soakReport struct {
	test  *testing.T
	begun time.Time
	// calmSince is when the last leader was killed.
	calmSince time.Time
	// live and resident memory of each replica in MiB, and its descriptors and goroutines, since calmSince.
	live, resident, descriptors, goroutines [2][]soakPoint
	// atDeath are the resident memories of those that were killed.
	atDeath    []soakPoint
	recoveries []time.Duration
	away       []time.Duration
	noted      int
	printed    bool
	// failures are the syncs of each HPA that had failed before.
	failures map[string]int
}

// note measures the replicas. Goroutines are read rarely: all metrics of so many Forecasts cost more than their refresh.
func (r *soakReport) note(s *stage) {
	if r.calmSince.IsZero() {
		return
	}
	now := time.Now()
	for i, replica := range s.replicas {
		if n := replica.LiveMiB(); n > 0 {
			r.live[i] = append(r.live[i], soakPoint{now, float64(n)})
		}
		r.resident[i] = append(r.resident[i], soakPoint{now, float64(replica.ResidentMiB())})
		r.descriptors[i] = append(r.descriptors[i], soakPoint{now, float64(openDescriptors(replica.PID()))})
		if r.noted%24 == 0 {
			if n := s.gauge(replica, "go_goroutines"); n > 0 {
				r.goroutines[i] = append(r.goroutines[i], soakPoint{now, float64(n)})
			}
		}
	}
	r.noted++
}

func (r *soakReport) died(replica *clustertest.Replica) {
	r.test.Logf("%s: %s is killed", time.Now().UTC().Format(time.TimeOnly), replica.Name)
	r.atDeath = append(r.atDeath, soakPoint{time.Now(), float64(replica.ResidentMiB())})
}

func (r *soakReport) calm() { r.calmSince = time.Now() }

// restartAPIServer kills the kube-apiserver and waits for the next.
func (r *soakReport) restartAPIServer(s *stage, load *soakLoad) {
	begun := time.Now()
	load.outages.Add(1)
	if err := s.RestartAPIServer(r.test.Context()); err != nil {
		r.test.Fatal(err)
	}
	load.outages.Add(1)
	r.away = append(r.away, time.Since(begun))
	r.test.Logf(
		"%s: the kube-apiserver is back after %s",
		time.Now().UTC().Format(time.TimeOnly),
		time.Since(begun).Round(time.Millisecond),
	)
}

// slope is by how much a figure grows an hour, with the half of its 95 % interval, by least squares.
func slope(points []soakPoint) (perHour, half, mean float64) {
	n := float64(len(points))
	if n < 3 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	var x, y, xx, xy float64
	hours := func(p soakPoint) float64 { return p.at.Sub(points[0].at).Hours() }
	for _, p := range points {
		x, y = x+hours(p)/n, y+p.value/n
	}
	for _, p := range points {
		xx, xy = xx+(hours(p)-x)*(hours(p)-x), xy+(hours(p)-x)*(p.value-y)
	}
	perHour = xy / xx
	rest := 0.0
	for _, p := range points {
		off := p.value - y - perHour*(hours(p)-x)
		rest += off * off
	}
	return perHour, 1.96 * math.Sqrt(rest/(n-2)/xx), y
}

func largest(points []soakPoint) float64 {
	most := 0.0
	for _, p := range points {
		most = max(most, p.value)
	}
	return most
}

// print prints the figures, and fails the test where one is not flat, differs, or failed.
func (r *soakReport) print(s *stage, load *soakLoad) {
	t := r.test
	t.Helper()
	if r.printed {
		return
	}
	r.printed = true
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "figure\tmean\tgrowth an hour\t95 %% interval\tlargest\n")
	row := func(name string, points []soakPoint, flat float64) {
		perHour, half, mean := slope(points)
		fmt.Fprintf(table, "%s\t%.1f\t%+.2f\t± %.2f\t%.1f\n", name, mean, perHour, half, largest(points))
		over := time.Since(r.calmSince).Hours()
		if grown := (perHour - half) * over; grown > flat*mean {
			t.Errorf("%s: grew by %.1f at least in %.2f h, from a mean of %.1f", name, grown, over, mean)
		}
	}
	const tenth = 0.1
	for i, replica := range s.replicas {
		row(replica.Name+" live MiB", r.live[i], tenth)
		row(replica.Name+" resident MiB", r.resident[i], tenth)
		row(replica.Name+" descriptors", r.descriptors[i], tenth)
		row(replica.Name+" goroutines", r.goroutines[i], tenth)
	}
	row("resident MiB when killed", r.atDeath, 1) // The first ones had just started.
	load.mu.Lock()
	defer load.mu.Unlock()
	var calm []soakPoint
	for _, p := range load.p99 {
		if p.at.After(r.calmSince.Add(soakWindow)) {
			calm = append(calm, p)
		}
	}
	row("p99 of a GET, ms", calm, 1)
	table.Flush() //nolint:errcheck // The terminal is gone.
	t.Logf(
		"%d requests in %s: %d sent again, %d failed",
		load.sent,
		time.Since(r.begun).Round(time.Second),
		load.again,
		load.failed,
	)
	t.Logf("%d values of the same samples compared, %d differ", load.compared, load.different)
	t.Logf("replicas were ready again after %v", rounded(r.recoveries))
	t.Logf("the kube-apiserver was away for %v", rounded(r.away))
	if load.failed > 0 {
		t.Errorf(
			"requests failed, the first: %v; by second: %v; by kind: %v",
			load.problems,
			load.failedAt,
			load.failedWith,
		)
	}
	if load.different > 0 || load.compared < load.sent/4 {
		t.Errorf("%d values differ, of %d compared: %v", load.different, load.compared, load.differing)
	}
}

func rounded(all []time.Duration) []time.Duration {
	out := make([]time.Duration, len(all))
	for i, d := range all {
		out[i] = d.Round(100 * time.Millisecond)
	}
	return out
}

// expectSyncs: no HPA misses its metric more than once for each time that a leader or the kube-apiserver was killed.
func (r *soakReport) expectSyncs(s *stage) {
	t := r.test
	t.Helper()
	failures := s.failures(t)
	all, most := 0, 0
	for name, n := range failures {
		n -= r.failures[name]
		all, most = all+n, max(most, n)
	}
	syncs := int(time.Since(r.begun)/s.Sync) * soakHPAs
	t.Logf(
		"%d of some %d syncs of HPAs failed, %d of one HPA; %d leaders and %d kube-apiservers were killed",
		all,
		syncs,
		most,
		len(r.recoveries),
		len(r.away),
	)
	if most > len(r.recoveries)+len(r.away) {
		t.Errorf("an HPA missed its metric %d times", most)
	}
}
