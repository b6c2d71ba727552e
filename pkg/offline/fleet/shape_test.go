package fleet_test

import (
	"testing"

	"github.com/forewarm/forewarm/pkg/offline/fleet"
)

func TestCheapest(t *testing.T) {
	h100 := fleet.Shape{Name: "h100", Price: 3, Capacity: 1000, GPUs: 2}
	l40s := fleet.Shape{Name: "l40s", Price: 1, Capacity: 200, GPUs: 1}
	trials := []fleet.ShapeResult{
		{Shape: h100, Policy: "forewarm", ReplicaHours: 100, MeetsObjective: true},
		{Shape: l40s, Policy: "forewarm", ReplicaHours: 480, MeetsObjective: true},
		{Shape: l40s, Policy: "hpa-best-target", ReplicaHours: 700, MeetsObjective: true},
		{Shape: fleet.Shape{Name: "t4", Price: 0.1, GPUs: 1}, Policy: "forewarm", ReplicaHours: 900},
	}
	if best, ok := fleet.Cheapest(trials, "forewarm"); !ok || best.Name != "l40s" || best.Dollars() != 480 {
		t.Errorf("%+v, %t: want the l40s, as the t4 misses the objective", best, ok)
	}
	if got := trials[0].Dollars(); got != 600 {
		t.Errorf("100 hours of two GPUs at $3 are $%v", got)
	}
	if best, ok := fleet.Cheapest(trials, "oracle"); ok {
		t.Errorf("%+v of a policy that was not played", best)
	}
}
