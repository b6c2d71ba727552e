package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cli"
	"github.com/forewarm/forewarm/pkg/offline/fleet"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

func parsedFlags(t *testing.T, args ...string) *cli.FleetFlags {
	t.Helper()
	var f cli.FleetFlags
	set := pflag.NewFlagSet("simulate", pflag.ContinueOnError)
	f.Add(set)
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return &f
}

// simulatePlayed is a comparison that forewarm took 6 replica-hours in.
func simulatePlayed() *compare.Comparison {
	course := []compare.Slot{{Paid: 1}, {Paid: 1}, {Paid: 4}}
	return &compare.Comparison{
		Assumptions: compare.Assumptions{GPUs: 2, GPUPrice: 3},
		Policies: []compare.PolicyResult{
			{Name: compare.HPA},
			{Name: compare.BestTarget, MeetsObjective: true, Report: simulate.Report{ReplicaHours: 9}},
			{Name: compare.Forewarm, Timeline: course, Report: simulate.Report{ReplicaHours: 6, Arrived: 4, Late: 1}},
		},
	}
}

func TestAnswer(t *testing.T) {
	f := parsedFlags(t, "--shape", "name=h100,price=3,capacity=10", "--shape", "name=l4,price=1,capacity=2,gpus=2",
		"--fraction", "a=0.25,replicas=3", "--fraction", "b=1/4", "--sharing", "mps",
		"--spot", "price=1,interruptions=0.1")
	asked, err := f.Parse(3)
	if err != nil {
		t.Fatal(err)
	}
	if len(asked.Shapes) != 2 || asked.Shapes[1] != (fleet.Shape{Name: "l4", Price: 1, Capacity: 2, GPUs: 2}) {
		t.Errorf("shapes %+v", asked.Shapes)
	}
	c := simulatePlayed()
	if err := asked.Answer(c, time.Hour); err != nil {
		t.Fatal(err)
	}
	if c.Sharing == nil || c.Sharing.GPUs != 1 || c.Sharing.Unsliced != 4 || c.Sharing.Sharing != fleet.MPS {
		t.Errorf("packed as %+v", c.Sharing)
	}
	// A base of 1 for 3 hours, 3 hours above it that take 3.3 on spot; 2 GPUs each.
	if s := c.Spot; s == nil || s.Base != 1 || s.OnDemand != 6 || s.AllOnDemand != 36 || s.Dollars < 24.59 ||
		s.Dollars > 24.61 {
		t.Errorf("divided as %+v", c.Spot)
	}
}

func TestShapeResults(t *testing.T) {
	on := fleet.Shape{Name: "l4", Price: 1, GPUs: 1}
	got := cli.ShapeResults(on, simulatePlayed())
	want := []fleet.ShapeResult{
		{Shape: on, Policy: compare.BestTarget, ReplicaHours: 9, MeetsObjective: true},
		{Shape: on, Policy: compare.Forewarm, ReplicaHours: 6, Late: 0.25},
	}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestNothingAsked(t *testing.T) {
	asked, err := parsedFlags(t).Parse(0)
	if err != nil {
		t.Fatal(err)
	}
	c := simulatePlayed()
	if err := asked.Answer(c, time.Minute); err != nil || c.Sharing != nil || c.Spot != nil || len(asked.Shapes) > 0 {
		t.Errorf("answered %+v, %+v, %v", c.Sharing, c.Spot, err)
	}
}

func TestSpotWithoutForewarm(t *testing.T) {
	asked, err := parsedFlags(t, "--spot", "price=1,interruptions=0").Parse(2)
	if err != nil {
		t.Fatal(err)
	}
	c := &compare.Comparison{}
	if err := asked.Answer(c, time.Minute); err != nil || c.Spot != nil || len(c.Notes) != 1 {
		t.Errorf("%v, %+v, %q: want a note", err, c.Spot, c.Notes)
	}
}

func TestParseReturnsEveryProblem(t *testing.T) {
	_, err := parsedFlags(t, "--shape", "name=a", "--shape", "name=b,price=1,capacity=1", "--shape",
		"name=b,price=1,capacity=1", "--fraction", "x=2", "--sharing", "vgpu", "--spot",
		"price=1,interruptions=0").Parse(0)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`shape "name=a": no price is given`, "shape b is given twice", `fraction "x=2"`, `sharing "vgpu" is unknown`,
		"--spot needs --gpu-price",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
