package forecasts_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// mixed is a record of starts of 2 min on existing nodes and of 6 min that waited for one, counted at noon.
func mixed(placed, waited int) *leadtime.Record {
	ready := noon().Add(-time.Hour)
	found := leadtime.Start{Created: ready.Add(-2 * time.Minute), Scheduled: ready.Add(-2 * time.Minute), Ready: ready}
	late := leadtime.Start{Created: ready.Add(-6 * time.Minute), Scheduled: ready.Add(-2 * time.Minute), Ready: ready}
	record := &leadtime.Record{}
	all := append(slices.Repeat([]leadtime.Start{found}, placed), slices.Repeat([]leadtime.Start{late}, waited)...)
	record.AddStarts(all, noon())
	return record
}

func TestWhatACoverMakesOfALeadTime(t *testing.T) {
	const (
		pod, whole = 126 * time.Second, 367 * time.Second
		all        = "as it is"
	)
	for _, c := range []struct {
		name           string
		placed, waited int
		// since when the pool covers, and now, after noon.
		since, now time.Duration
		lead       time.Duration
		want       string
	}{
		{
			"covered", 11, 12, 0, time.Hour, pod,
			"p90 of 11 starts on existing nodes that warm pool h100 provides; 6m7s without the pool",
		},
		{
			"the cover lies ahead", 11, 12, 2 * time.Hour, time.Hour, whole,
			all + " (changes to 2m6s at 14:00:00 UTC, because warm pool h100 holds nodes)",
		},
		{
			"the second that it begins", 11, 12, time.Hour, time.Hour, pod,
			"p90 of 11 starts on existing nodes that warm pool h100 provides; 6m7s without the pool",
		},
		{
			"covered, and what is measured is announced", 11, 12, 0, 59 * time.Second, whole,
			all + " (changes to 2m6s at 12:01:00 UTC, because warm pool h100 holds nodes)",
		},
		{
			"too few starts found a node", 3, 12, 0, time.Hour, whole,
			all + "; warm pool h100 is ready for this Forecast, but only 3 starts on existing nodes were measured",
		},
		{"none waited", 12, 0, 0, time.Hour, whole, ""},
	} {
		record := mixed(c.placed, c.waited)
		measured := manifest.MeasuredLeadTime{Lead: whole, Source: all}
		want := manifest.MeasuredLeadTime{Lead: c.lead, Source: c.want}
		if strings.HasPrefix(c.want, "p90 of 11 starts on existing nodes that") {
			want.Pool, want.Median = "h100", pod // All starts on existing nodes took as long.
		}
		if c.want == "" {
			measured.Lead = record.LeadTime(noon().Add(c.now))
			want = manifest.MeasuredLeadTime{
				Lead:   measured.Lead,
				Source: all + "; warm pool h100 is ready for this Forecast, but does not shorten the lead time",
			}
		}
		got := forecasts.ShortenLeadTime("h100", noon().Add(c.since), measured, record, noon().Add(c.now))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

// While it covers, another lead time of the pods is announced as the whole one is.
func TestACoveredLeadTimeThatChangesIsAnnounced(t *testing.T) {
	record, later := mixed(11, 12), noon().Add(2*time.Hour)
	slower := leadtime.Start{
		Created:   noon().Add(56 * time.Minute),
		Scheduled: noon().Add(56 * time.Minute),
		Ready:     noon().Add(time.Hour),
	}
	record.AddStarts(slices.Repeat([]leadtime.Start{slower}, 4), later)
	all := manifest.MeasuredLeadTime{Lead: 367 * time.Second}
	before := forecasts.ShortenLeadTime("h100", noon(), all, record, later)
	if before.Lead != 126*time.Second ||
		!strings.HasSuffix(before.Source, "6m7s without the pool (changes to 4m8s at 14:01:00 UTC)") {
		t.Errorf("announced: %+v", before)
	}
	after := forecasts.ShortenLeadTime("h100", noon(), all, record, later.Add(time.Minute))
	if after.Lead != 248*time.Second || strings.Contains(after.Source, "changes to") {
		t.Errorf("in use: %+v", after)
	}
}

// A workload that was never without a pool has the fallback without it, and what was measured with it.
func TestACoverNeedsNoLeadTimeWithoutIt(t *testing.T) {
	start := leadtime.Start{
		Created:   noon().Add(-time.Hour),
		Scheduled: noon().Add(-time.Hour),
		Ready:     noon().Add(-58 * time.Minute),
		Held:      true,
	}
	record := &leadtime.Record{}
	record.AddStarts(slices.Repeat([]leadtime.Start{start}, 12), noon())
	now := noon().Add(time.Hour)
	got := forecasts.ShortenLeadTime("h100", noon(),
		manifest.MeasuredLeadTime{Lead: record.LeadTime(now), Source: record.String()}, record, now)
	want := manifest.MeasuredLeadTime{
		Lead:   126 * time.Second,
		Median: 126 * time.Second,
		Source: "p90 of 12 starts on existing nodes that warm pool h100 provides",
		Pool:   "h100",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// pools cover the Forecast a, or nothing.
type pools struct {
	mu    sync.Mutex
	pool  string
	since time.Time
}

func (p *pools) set(pool string, since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pool, p.since = pool, since
}

// Covered implements cluster.Covers.
func (p *pools) Covered(namespace, forecast string) (pool string, since time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pool, p.since, p.pool != "" && namespace == "default" && forecast == "a"
}

// fleets has a as a member, or no member.
type fleets struct{ atomic.Bool }

func (f *fleets) HasMember(key snapshot.Key) bool {
	return f.Load() && key.Namespace == "default" && key.Name == "a"
}

// testCovered covers one of two Forecasts and uncovers it: it alone looks ahead less far meanwhile, all replicas change
// over in the same second, and what the controller asks of both is answered.
func testCovered(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	fixedly := strings.Replace(forecast("f", "x"), "spec:", "spec:\n  leadTime: {mode: Fixed, duration: 9m}", 1)
	c.MustKubectl(t, strings.Join([]string{deployment, forecast("a", "x"), forecast("b", "x"), fixedly}, "---"),
		"create", "-f", "-")
	for _, name := range []string{"a", "b", "f"} {
		patch(t, c, name, v1alpha1.ForecastStatus{Starts: forecasts.StartsOf(llama, mixed(11, 12))})
	}
	k, covers, members := newKubelet(t, c), &pools{}, &fleets{}
	replicas := []*forecasts.Objects{
		watchAs(t, c.Config, quiet(), func(o *forecasts.Objects) {
			o.SetCovers(covers)
			o.SetFleets(members)
		}),
		watchAs(t, c.Config, quiet(), func(o *forecasts.Objects) { o.SetCovers(covers) }),
	}
	now := noon().Add(time.Hour)
	const short, long, fixed = 126 * time.Second, 367 * time.Second, 9 * time.Minute
	leads := func(at time.Time, a time.Duration) {
		t.Helper()
		for _, o := range replicas {
			eventually(t, func() string {
				var got []time.Duration
				for _, target := range o.List(at) {
					got = append(got, target.Lead)
				}
				return cmp.Diff([]time.Duration{a, long, fixed}, got)
			})
		}
	}
	leads(now, long)
	covers.set("h100", now.Add(time.Minute))
	leads(now, long)
	leads(now.Add(time.Minute), short)
	one, two := replicas[0].List(now.Add(time.Minute)), replicas[1].List(now.Add(time.Minute))
	if diff := cmp.Diff(one, two); diff != "" {
		t.Errorf("replicas disagree: %s", diff)
	}
	if got := one[0]; got.Settings.Lead != short ||
		!strings.Contains(got.LeadSource, "on existing nodes that warm pool h100 provides") {
		t.Errorf("policy's lead %s: %s", got.Settings.Lead, got.LeadSource)
	}
	covers.set("", time.Time{})
	leads(now.Add(2*time.Minute), long)
	answers(t, k, replicas[0])
	for _, member := range []bool{true, false} {
		members.Store(member)
		for _, job := range replicas[0].List(now.Add(2 * time.Minute)) {
			if job.KeepServedPeaks != (member && job.Key.Name == "a") {
				t.Errorf("%s keeps its served peaks: %v; a is a member: %v", job.Key, job.KeepServedPeaks, member)
			}
		}
	}
}

// testCountedUnderACover counts a start before a pool covers the Forecast and one after it.
func testCountedUnderACover(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t, deployment+"---"+forecast("a", "x"), "create", "-f", "-")
	k, covers := newKubelet(t, c), &pools{}
	p := newProcess(t, c, func(o *forecasts.Objects) { o.SetCovers(covers) })
	k.start("before", 2*time.Minute)
	time.Sleep(1100 * time.Millisecond) // Times of pods are whole seconds.
	covers.set("h100", time.Now().Truncate(time.Second))
	now := later(time.Now(), k.start("after", 3*time.Minute))
	p.lead(t, now, 2)
	status, _ := stored(t, p.client, "a")
	if status.Starts == nil || status.Starts.Placed.Count != 1 || status.Starts.Held.Count != 1 {
		t.Errorf("counted %+v, want one of each", status.Starts)
	}
	const words = "fallback 5m: 1 of 10 starts measured; 1 more on nodes that a warm pool held; warm pool h100 is ready for this Forecast, " +
		"but only 2 starts on existing nodes were measured"
	if status.LeadTimeSource != words {
		t.Errorf("it says %q, want %q", status.LeadTimeSource, words)
	}
}

// answers are what a pool's controller asks.
func answers(t *testing.T, k kubelet, o *forecasts.Objects) {
	t.Helper()
	key := func(name string) snapshot.Key { return snapshot.Key{Namespace: "default", Name: name} }
	parts, measured := o.Starts(key("a"), noon().Add(time.Hour))
	if node := parts.Node(); !measured || !node.Known || node.Lead != 241*time.Second || node.Starts != 11 {
		t.Errorf("measured %v, starts %+v, a node's part %+v", measured, parts, node)
	}
	for _, name := range []string{"f", "missing"} {
		if parts, measured = o.Starts(key(name), noon()); measured {
			t.Errorf("%s has measured starts %+v", name, parts)
		}
	}
	if _, _, known := o.Replicas(key("missing")); known {
		t.Error("places of a Forecast that is not there are known")
	}
	pods := []*corev1.Pod{k.create("p", "ReplicaSet", "llama-5d4f"), k.create("q", "ReplicaSet", "llama-5d4f")}
	k.Bind(pods[0], "n1")
	eventually(t, func() string {
		if placed, waiting, known := o.Replicas(key("a")); placed != 1 || waiting != 1 || !known {
			return fmt.Sprintf("%d placed, %d wait, known %v; want one of each", placed, waiting, known)
		}
		return ""
	})
}
