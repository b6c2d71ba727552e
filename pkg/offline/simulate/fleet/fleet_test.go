package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	corefleet "github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/offline/simulate/fleet"
)

// member is a workload with office hours and 5 % of noise: its demand is 3 replicas at night and some more from eight to six.
func member(t *testing.T, name string, days, replicas int) fleet.Member {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(replicas), 3))
	s := forecast.Series{Start: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC), Step: time.Minute}
	for i := range days*1440 + 1 {
		v := 300.0
		if hour := i % 1440 / 60; hour >= 8 && hour < 18 {
			v = 100 * float64(replicas)
		}
		s.Values = append(s.Values, math.Max(0, v*(1+0.05*random.NormFloat64())))
	}
	r, err := compare.Record(t.Context(), compare.Config{
		Demand: s, Source: name, Autoscaler: name, Objective: 0.01, BadHours: true,
		Lead: compare.LeadTime{Median: 5 * time.Minute, P90: 8 * time.Minute},
		HPA: hpa.Spec{
			Min: 1, Max: 60, Cluster: hpa.DefaultCluster(),
			Metrics: []hpa.Metric{{Name: "load", Source: hpa.External, Type: hpa.AverageValue, Target: 100 * 1000}},
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fleet.Member{Name: name, GPUs: 1, Recording: r}
}

func batch(run time.Duration) corefleet.Consumer {
	return corefleet.Consumer{Name: "embeddings", GPUs: 1, Share: 1, Run: run}
}

func simulate(t *testing.T, c fleet.Config) *fleet.Result {
	t.Helper()
	var played []string
	r, err := fleet.Simulate(t.Context(), &c, func(policy string) { played = append(played, policy) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fleet.Policies(), played); diff != "" {
		t.Errorf("progress (-want +got)\n%s", diff)
	}
	return r
}

// Two members with office hours on 48 GPUs: Forewarm does much more batch work than a static partition, and kills nearly none of it. The
// members are served as well as without batch work.
func TestOfficeHours(t *testing.T) {
	c := fleet.Config{
		GPUs: 48, Limit: 0.01, Batch: []corefleet.Consumer{batch(20 * time.Minute)},
		Members: []fleet.Member{member(t, "chat", 9, 20), member(t, "code", 9, 12)},
	}
	r := simulate(t, c)
	static, reactive := r.Find(fleet.Static), r.Find(fleet.Reactive)
	ours, oracle := r.Find(fleet.Forewarm), r.Find(fleet.Oracle)
	if oracle.KilledRuns != 0 || static.KilledRuns != 0 {
		t.Errorf("killed: oracle %d, static %d, want none", oracle.KilledRuns, static.KilledRuns)
	}
	if reactive.KilledRuns < 100 || ours.Killed > reactive.Killed/10 {
		t.Errorf("%v GPU-hours in %d runs killed, reactive %v in %d", ours.Killed, ours.KilledRuns, reactive.Killed,
			reactive.KilledRuns)
	}
	if ours.Done < 1.25*static.Done || ours.Done < 0.65*oracle.Done || ours.Done > 48*r.Hours {
		t.Errorf("%v GPU-hours done, static %v, oracle %v", ours.Done, static.Done, oracle.Done)
	}
	if math.Abs(static.Done-(48-r.Static)*r.Hours) > 1e-6 || r.Static <= 20 || r.Static >= 48 {
		t.Errorf("%v GPU-hours done next to a static part of %v", static.Done, r.Static)
	}
	for _, o := range r.Outcomes {
		if o.BadHours > 0.02 || (o.Worst == nil) != (o.BadHours == 0) {
			t.Errorf("%s: %v of the demand in bad hours, the worst %v", o.Policy, o.BadHours, o.Worst)
		}
		// What runs started, ended or was killed, but for what ran at the start and the end.
		ended := 3*o.Done + float64(o.KilledRuns)
		if o.Policy != fleet.Static && math.Abs(ended-float64(o.Runs)) > 2*48 {
			t.Errorf("%s: %d runs, of which %v ended", o.Policy, o.Runs, ended)
		}
	}
	if diff := cmp.Diff(r, simulate(t, c), cmpopts.IgnoreUnexported(fleet.WorstHour{})); diff != "" {
		t.Errorf("a second run differs (-first +second)\n%s", diff)
	}
	text := strings.Join(strings.Fields(r.Text(100)), " ")
	for _, want := range []string{"batch work would have done", "static partition of", "forewarm ", "runs, which lost"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, r.Text(100))
		}
	}
	r.Doubt = "Member chat: The values are from a counter."
	if text := r.Text(100); !strings.HasPrefix(text, r.Doubt) || strings.Contains(text, "would have done") {
		t.Errorf("no doubt instead of the verdict in\n%s", text)
	}
}

// Replicas of members and consumers may take several GPUs or a part of one; no more GPUs are used than there are.
func TestSizes(t *testing.T) {
	large := member(t, "code", 6, 12)
	large.GPUs = 2
	half := batch(time.Hour)
	half.GPUs, half.Share = 0.5, 3
	whole := batch(20 * time.Minute)
	whole.Name, whole.GPUs = "train", 4
	c := fleet.Config{GPUs: 50, Limit: 0.01, Members: []fleet.Member{large}, Batch: []corefleet.Consumer{half, whole}}
	r := simulate(t, c)
	for _, o := range r.Outcomes {
		if o.Done <= 0 || o.Done > 50*r.Hours || (o.Policy == fleet.Oracle && o.KilledRuns != 0) {
			t.Errorf("%+v in %v hours", o, r.Hours)
		}
	}
	c.Members = []fleet.Member{member(t, "code", 6, 12)}
	one := simulate(t, c)
	if one.Static*2-r.Static > 1 || r.Static-one.Static*2 > 1 {
		t.Errorf("replicas of 2 GPUs need %v GPUs, those of 1 need %v", r.Static, one.Static)
	}
}

// If the members need all GPUs, nothing is left for batch work in a static partition. If there are fewer than they ask for, the result says
// what they lose.
func TestTooFewGPUs(t *testing.T) {
	c := fleet.Config{
		GPUs: 12, Limit: 0.01, Members: []fleet.Member{member(t, "code", 5, 12)},
		Batch: []corefleet.Consumer{batch(time.Hour)},
	}
	r := simulate(t, c)
	if static := r.Find(fleet.Static); r.Static != 12 || static.Done != 0 {
		t.Errorf("a static part of %v of 12 GPUs, %v GPU-hours done", r.Static, static.Done)
	}
	if text := r.Text(100); !strings.Contains(text, "would have left nothing") {
		t.Error(text)
	}
	c.GPUs = 4
	small := simulate(t, c)
	if small.Asked <= 4 || small.AloneBadHours >= small.Find(fleet.Forewarm).BadHours {
		t.Errorf("%+v", small)
	}
	want := fmt.Sprintf("The members ask for up to %v GPUs. If they got them,", small.Asked)
	if text := small.Text(100); !strings.HasPrefix(text, "These GPUs are too few for the members: ") ||
		!strings.Contains(text, want) || strings.Contains(text, "of 0 batch runs") {
		t.Errorf("%q is not in\n%s", want, text)
	}
}

func TestWrongFleets(t *testing.T) {
	m := member(t, "chat", 5, 5)
	later, short := m, member(t, "short", 3, 5)
	hour := []corefleet.Consumer{batch(time.Hour)}
	large, train := m, []corefleet.Consumer{batch(time.Hour)}
	large.GPUs, train[0].GPUs = 10, 16
	moved := *m.Recording
	moved.Demand.Start = moved.Demand.Start.Add(time.Minute)
	later.Name, later.Recording = "later", &moved
	for want, c := range map[string]fleet.Config{
		"start at different times":                     {GPUs: 9, Members: []fleet.Member{m, later}, Batch: hour},
		"3.0 days of history":                          {GPUs: 9, Members: []fleet.Member{m, short}, Batch: hour},
		"1 consumers on 0 GPUs":                        {Members: []fleet.Member{m}, Batch: hour},
		"1 members and 0 consumers":                    {GPUs: 9, Members: []fleet.Member{m}},
		"0 members":                                    {GPUs: 9, Batch: hour},
		"chat needs 10 GPUs, but the fleet has only 9": {GPUs: 9, Members: []fleet.Member{large}, Batch: hour},
		"embeddings needs 16 GPUs":                     {GPUs: 9, Members: []fleet.Member{m}, Batch: train},
	} {
		if _, err := fleet.Simulate(t.Context(), &c, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if _, err := c.SmallestStatic(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("smallest part: %v, want %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := fleet.Config{GPUs: 9, Members: []fleet.Member{m}, Batch: hour}
	if _, err := fleet.Simulate(ctx, &c, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want an interruption", fmt.Sprint(err))
	}
}

// A million GPUs take no longer than nine. An interruption ends every policy at once, the last one too.
func TestManyGPUsAndInterruption(t *testing.T) {
	c := fleet.Config{
		GPUs: 1e6, Limit: 0.01, Members: []fleet.Member{member(t, "chat", 5, 5)},
		Batch: []corefleet.Consumer{batch(20 * time.Minute)},
	}
	r := simulate(t, c)
	if ours := r.Find(fleet.Forewarm); ours.Done < 0.99e6*r.Hours || ours.Done > 1e6*r.Hours {
		t.Errorf("%v GPU-hours done in %v hours", ours.Done, r.Hours)
	}
	for _, policy := range []string{fleet.Reactive, fleet.Oracle} {
		ctx, cancel := context.WithCancel(t.Context())
		steps := 0
		c.Record = func(m fleet.Moment) {
			if m.Policy == policy {
				steps++
				cancel()
			}
		}
		if _, err := fleet.Simulate(ctx, &c, nil); !errors.Is(err, context.Canceled) || steps != 1 {
			t.Errorf("%s: %v after %d steps, want an interruption", policy, err, steps)
		}
	}
}
