package compare_test

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// A timetable: a look ahead has the replicas when they are needed.
func TestCompare(t *testing.T) {
	t.Parallel()
	last, all := 0, 0
	c, err := compare.Compare(t.Context(), config(working(4)),
		func(done, total int, _ string) { last, all = done, total })
	if err != nil {
		t.Fatal(err)
	}
	if last != all || all == 0 {
		t.Errorf("the progress ends at %d of %d", last, all)
	}
	var names []string
	for _, p := range c.Policies {
		names = append(names, p.Name)
		if p.MeetsObjective != (p.Report.LateShare() <= 0.01) {
			t.Errorf("%s: meets %v with %v late", p.Name, p.MeetsObjective, p.Report.LateShare())
		}
		if n := len(p.Timeline); n < 300 || n > 4032 {
			t.Errorf("%s: a course of %d slots, want up to 4032", p.Name, n)
		}
	}
	want := []string{
		compare.HPA, compare.BestTarget, compare.Max15m, compare.Offset, compare.HoltWinters, compare.ARIMA,
		compare.Forewarm, compare.Oracle,
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	forewarm, best := named(t, c, compare.Forewarm), named(t, c, compare.BestTarget)
	if !(forewarm.Report.ReplicaHours < 0.8*best.Report.ReplicaHours) || !forewarm.MeetsObjective {
		t.Errorf("forewarm takes %v replica-hours and is %v late, the best target %v",
			forewarm.Report.ReplicaHours, forewarm.Report.LateShare(), best.Report.ReplicaHours)
	}
	if forewarm.Hindsight || forewarm.Target != capacity || !best.Hindsight {
		t.Errorf("forewarm is played with %v, in hindsight %v", forewarm.Target, forewarm.Hindsight)
	}
	if !strings.HasPrefix(c.Verdict, "Too early for a verdict, which needs three days. Over 2 days, Forewarm uses") {
		t.Error(c.Verdict)
	}
	if c.Partial || c.Assumptions.CapacityAssumed || c.Assumptions.WarmUp != 2*day || c.Assumptions.Duration != 4*day {
		t.Errorf("%+v", c.Assumptions)
	}
	notes := strings.Join(c.Notes, "\n")
	for _, want := range []string{
		"no policy can learn a weekly pattern",
		"at a lower cost than Forewarm: offset at target ",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not said:\n%s", want, notes)
		}
	}
	bounds(t, c)
	rises(t, c)
}

// bounds: nothing that cannot see the future is much cheaper than the oracle where it is no later.
func bounds(t *testing.T, c *compare.Comparison) {
	t.Helper()
	oracle := named(t, c, compare.Oracle)
	for _, p := range c.Policies {
		for i, at := range p.Frontier {
			if i > 0 && !(at.Late > p.Frontier[i-1].Late && at.RelativeCost < p.Frontier[i-1].RelativeCost) {
				t.Errorf("%s: %+v after %+v", p.Name, at, p.Frontier[i-1])
			}
			if at.Late <= oracle.Report.LateShare() && at.RelativeCost < 0.98*oracle.Report.RelativeCost() {
				t.Errorf("%s: %+v, the oracle takes %v", p.Name, at, oracle.Report.RelativeCost())
			}
		}
	}
	// Of those that meet the objective the best target is the cheapest.
	best := named(t, c, compare.BestTarget)
	for _, at := range best.Frontier {
		if at.Late <= 0.01 && at.RelativeCost < best.Report.RelativeCost() {
			t.Errorf("%+v is cheaper than the best target's %v", at, best.Report.RelativeCost())
		}
	}
}

// rises: who follows the demand comes a lead time and what is before it later, who knows it in time.
func rises(t *testing.T, c *compare.Comparison) {
	t.Helper()
	hpa, oracle := named(t, c, compare.HPA), named(t, c, compare.Oracle)
	if hpa.MeanLate < 3*time.Minute || hpa.MeanLate > 8*time.Minute {
		t.Errorf("the HPA is late by %s", hpa.MeanLate)
	}
	if oracle.MeanLate > 90*time.Second {
		t.Errorf("the oracle is late by %s", oracle.MeanLate)
	}
}

// An objective by bad hours judges the policies, and chooses the best target, by the demand in bad hours.
func TestCompareByBadHours(t *testing.T) {
	t.Parallel()
	c := config(working(3))
	c.Objective, c.Only = 0.03, []string{compare.BestTarget, compare.Forewarm}
	byLate := played(t, c)
	c.BadHours = true
	byHours := played(t, c)
	for _, p := range byHours.Policies {
		if p.MeetsObjective != (p.Report.BadHours.Share() <= 0.03) {
			t.Errorf("%s: meets %v with %v in bad hours", p.Name, p.MeetsObjective, p.Report.BadHours.Share())
		}
	}
	late, hours := named(t, byLate, compare.BestTarget), named(t, byHours, compare.BestTarget)
	if !hours.MeetsObjective || late.Report.BadHours.Share() <= 0.03 || !(hours.Target < late.Target) {
		t.Errorf("by bad hours the best target is %v with %v in bad hours, by late demand %v with %v", hours.Target,
			hours.Report.BadHours.Share(), late.Target, late.Report.BadHours.Share())
	}
	if !byHours.Assumptions.BadHours || byLate.Assumptions.BadHours ||
		!strings.Contains(byHours.Verdict, " bad hour") {
		t.Error(byHours.Verdict)
	}
	if notes := strings.Join(byHours.Notes, " "); strings.Contains(notes, "late demand than Forewarm") {
		t.Error(notes)
	}
}

// short is the morning of a day.
func short() compare.Config { return config(working(1).Slice(360, 720)) }

func TestSameBitsWithAnyNumberOfWorkers(t *testing.T) {
	t.Parallel()
	one, many := short(), short()
	one.Workers, many.Workers = 1, 5
	if first, second := played(t, one), played(t, many); !reflect.DeepEqual(first, second) {
		t.Errorf("%+v\n%+v", first, second)
	}
}

// What forewarm and the autoscaler as written did is the same up to a time, whatever comes after it.
func TestPoliciesDoNotSeeTheFuture(t *testing.T) {
	t.Parallel()
	c, other := short(), short()
	n := c.Demand.Len()
	for i := n * 2 / 3; i < n; i++ {
		other.Demand.Values[i] = 3*other.Demand.Values[i] + 500
	}
	first, second := played(t, c), played(t, other)
	until := c.Demand.TimeAt(n * 2 / 3)
	for _, name := range []string{compare.HPA, compare.Forewarm} {
		a, b := named(t, first, name).Timeline, named(t, second, name).Timeline
		common, same := 0, true
		for i := range a {
			if a[i].Start.Add(10 * time.Minute).After(until) {
				same = same && a[i] == b[i]
				continue
			}
			common++
			if a[i] != b[i] {
				t.Fatalf("%s: %+v, and %+v before another future", name, a[i], b[i])
			}
		}
		if common < 200 || same {
			t.Errorf("%s: %d slots before, and another future makes no difference: %v", name, common, same)
		}
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := compare.Compare(ctx, short(), nil); err == nil ||
		!strings.Contains(err.Error(), "before any policy was simulated") {
		t.Errorf("%v, want that nothing was played", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	c := short()
	c.Workers = 1
	last := 0
	got, err := compare.Compare(ctx, c, func(done, total int, what string) {
		if done != last+1 || done > total || what == "" {
			t.Errorf("%d of %d %q after %d", done, total, what, last)
		}
		last = done
		if what == compare.BestTarget && done > 120 {
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	whole := played(t, short())
	for _, p := range got.Policies {
		if p.Name == compare.Forewarm {
			p.Frontier = named(t, whole, p.Name).Frontier
		}
		if !reflect.DeepEqual(p, *named(t, whole, p.Name)) {
			t.Errorf("%s is another one than without the interruption", p.Name)
		}
	}
	if !got.Partial || len(got.Policies) != 2 ||
		!strings.HasPrefix(got.Verdict, "The simulation was interrupted before") {
		t.Errorf("%d policies, partial %v: %s", len(got.Policies), got.Partial, got.Verdict)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*compare.Config)
		want   string
	}{
		{
			"too short", func(c *compare.Config) { c.Demand = c.Demand.Slice(0, 40) },
			"a history of 40m0s is too short to judge a lead time of 5m0s",
		},
		{
			"rows of days", func(c *compare.Config) { c.Demand.Step = day },
			"a history in steps of 24h is too coarse to judge a lead time of 5m",
		},
		{
			"years", func(c *compare.Config) {
				c.Demand.Step, c.Demand.Values = time.Hour, slices.Repeat([]float64{1}, 400*24)
			}, "a history of 400 days is longer than the maximum of 366 days; use only its newest weeks",
		},
		{"shorter than the lead time", func(c *compare.Config) { c.Lead.Median = 3 * day }, "use at least 72"},
		{"nothing", func(c *compare.Config) { c.Demand.Values = nil }, "0 observations, expected at least 2"},
		{"negative", func(c *compare.Config) { c.Demand.Values[61] = -1 }, "the history is -1 at 2026-11-02T07:01:00Z"},
		{"infinite", func(c *compare.Config) { c.Demand.Values[61] = math.Inf(1) }, "value 61 is +Inf"},
		{"nothing but 0", func(c *compare.Config) { clear(c.Demand.Values) }, "the demand is 0 in the whole history"},
		{"an objective of 100", func(c *compare.Config) { c.Objective = 100 }, "an objective of 100; expected a share"},
		{"no metric", func(c *compare.Config) { c.HPA.Metrics = nil }, "an autoscaler with 0 metrics"},
		{"a p90 below the median", func(c *compare.Config) { c.Lead.P90 = time.Minute }, "the p90 must not be shorter"},
		{"no lead time but a p90", func(c *compare.Config) { c.Lead = compare.LeadTime{P90: time.Minute} }, "a lead time " +
			"of 0s"},
		{"a negative price", func(c *compare.Config) { c.GPUPrice = -1 }, "a price of -1"},
		{"GPUs of nothing", func(c *compare.Config) { c.GPUs = -1 }, "-1 GPUs"},
		{"a policy that is none", func(c *compare.Config) { c.Only = []string{"magic"} }, `unknown policy "magic"; expected one of hpa, `},
		{"workers", func(c *compare.Config) { c.Workers = -1 }, "-1 workers"},
		{"a capacity below what an HPA reads", func(c *compare.Config) { c.Capacity = 1e-9 }, "capacity 1e-09"},
	} {
		c := short()
		tt.change(&c)
		if _, err := compare.Compare(t.Context(), c, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want it to say %q", tt.name, err, tt.want)
		}
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*compare.Config)
		want   []string
	}{
		{"headroom in the target, a morning", func(*compare.Config) {}, []string{
			"Forewarm uses the target 100", "no policy can learn a daily pattern",
			"the history is too short to fit their models: holt-winters, arima.",
		}},
		{"no capacity, five minutes, a gap, a remark", func(c *compare.Config) {
			c.Capacity, c.Demand, c.Remarks = 0, everyNth(c.Demand, 5), []string{"three values were none"}
			for i := 20; i < 32; i++ {
				c.Demand.Values[i] = math.NaN()
			}
		}, []string{
			"No replica capacity was given, so Forewarm assumes the target, 80.",
			"The history has steps of 5m0s. The simulation connects them with straight lines",
			"16.7% of the history is missing. The longest gap is 1h0m0s.", "three values were none",
		}},
		{"maxReplicas, ten minutes", func(c *compare.Config) { c.HPA.Max, c.Demand = 7, everyNth(c.Demand, 10) }, []string{
			"the demand is above 700, the most that maxReplicas (7) can serve. Every policy is late during that time. Check that the " +
				"demand is in the target's unit.",
			"No target of hpa-best-target meets the objective",
			"The history has steps of 10m0s, which is longer than the lead time",
		}},
		{
			"minReplicas, and a target over the capacity",
			func(c *compare.Config) { c.HPA.Min, c.Capacity = 90, 50 },
			[]string{
				"The highest demand is 1720, and minReplicas (90) is already enough for 4500",
				"The HPA's target, 80, is above the capacity of a replica",
			},
		},
	} {
		c := short()
		tt.change(&c)
		notes := strings.Join(played(t, c).Notes, "\n")
		for _, want := range tt.want {
			if !strings.Contains(notes, want) {
				t.Errorf("%s: %q is not said:\n%s", tt.name, want, notes)
			}
		}
	}
}

// Some policies are the same as among all.
func TestOnly(t *testing.T) {
	t.Parallel()
	c := short()
	all := played(t, c)
	c.Only = []string{compare.BestTarget, compare.HPA}
	some := played(t, c)
	if len(some.Policies) != 2 || some.Partial {
		t.Fatalf("%d policies, partial %v", len(some.Policies), some.Partial)
	}
	for _, p := range some.Policies {
		if !reflect.DeepEqual(p, *named(t, all, p.Name)) {
			t.Errorf("%s is another one than among all", p.Name)
		}
	}
}

// everyNth takes each n-th value.
func everyNth(s forecast.Series, n int) forecast.Series {
	out := forecast.Series{Start: s.Start, Step: s.Step * time.Duration(n)}
	for i := 0; i < s.Len(); i += n {
		out.Values = append(out.Values, s.Values[i])
	}
	return out
}

// Where the history is finer than what is played, nothing of it is lost: the demand of an hour of seconds is that of its
// means.
func TestFineHistory(t *testing.T) {
	t.Parallel()
	c := short()
	c.Demand = forecast.Series{Start: start(), Step: 2 * time.Second}
	for i := range 3 * 1800 {
		c.Demand.Values = append(c.Demand.Values, 400*float64(i%2))
	}
	got := named(t, played(t, c), compare.HPA).Report
	// A mean of two replicas over what was counted.
	if want := 2 * got.Duration.Hours(); math.Abs(got.Arrived/want-1) > 0.01 {
		t.Errorf("%v replica-hours arrived, want %v", got.Arrived, want)
	}
}

// Starts that vary take what was said, and those who look ahead reckon with the p90.
func TestLeadTimesThatVary(t *testing.T) {
	t.Parallel()
	lead := compare.LeadTime{Median: 5 * time.Minute, P90: 8 * time.Minute, Known: "given"}
	if got := lead.String(); got != "5m0s, p90 8m0s (given)" {
		t.Error(got)
	}
	if got := lead.Planned(); got != lead.P90 {
		t.Errorf("%s is planned with", got)
	}
	if got, want := lead.Pods(), sim.Starts(lead.Median, lead.P90); got != want {
		t.Errorf("pods take %v, want %v", got, want)
	}
	c := short()
	c.Lead = lead
	steady, varying := named(t, played(t, short()), compare.HPA), named(t, played(t, c), compare.HPA)
	if steady.Report.Late == varying.Report.Late {
		t.Error("lead times that vary make no difference")
	}
}

func BenchmarkCompare(b *testing.B) {
	c := config(working(14))
	c.Workers = 2
	for b.Loop() {
		if _, err := compare.Compare(b.Context(), c, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// Forewarm's simulated autoscalers start replicas as they are played; where nodes have to start first, with a node each.
func TestStartsOfSimulatedAutoscalers(t *testing.T) {
	lead := compare.LeadTime{Median: 2 * time.Minute, P90: 3 * time.Minute}
	c := compare.Config{Lead: lead}
	if got := c.Starts(); got != lead.Pods() {
		t.Errorf("%v, want those that are played, %v", got, lead.Pods())
	}
	c.Node = &compare.LeadTime{Median: 4 * time.Minute}
	if got, want := c.Starts(), sim.Starts(6*time.Minute, 7*time.Minute); got != want {
		t.Errorf("%v with nodes, want %v", got, want)
	}
	c.Lead.P90 = 0
	if got, want := c.Starts(), sim.Constant(6*time.Minute); got != want {
		t.Errorf("%v with nodes and constant times, want %v", got, want)
	}
}
