package fleet_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/fleet"
)

// A fleet of 2 replicas that needs 6 for a quarter of the day: 2 on demand, 4 on spot.
func ExampleSplitFleet() {
	day := []float64{2, 2, 2, 6}
	on := fleet.Shape{Price: 3, GPUs: 1}
	s, err := fleet.SplitFleet(day, 2*18+6*6, on, fleet.SpotMarket{Price: 1, Interruptions: 0.1}, 6*time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.0f replicas on demand: %.0f GPU-hours, and %.2f on spot\n", s.Base, s.OnDemand, s.Spot)
	fmt.Printf("%.1f interruptions; $%.2f in place of $%.2f\n", s.Restarts, s.Dollars, s.AllOnDemand)
	// Output:
	// 2 replicas on demand: 48 GPU-hours, and 24.24 on spot
	// 2.4 interruptions; $168.24 in place of $216.00
}

func TestSplitFleet(t *testing.T) {
	on := fleet.Shape{Price: 3, GPUs: 2}
	lead := 5 * time.Minute
	day := []float64{1, 4, 2, 8, 3, 2}
	s, err := fleet.SplitFleet(day, 480, on, fleet.SpotMarket{Price: 1.2, Interruptions: 0.01}, lead)
	if err != nil {
		t.Fatal(err)
	}
	// Each stretch is 480/20 = 24 h; the lower median of 1 2 2 3 4 8 is 2, below which lie 1+2+2+2+2+2 of the 20.
	if s.Base != 2 || math.Abs(s.OnDemand-2*24*11) > 1e-9 || math.Abs(s.Spot-2*24*9*(1+0.01/12)) > 1e-9 {
		t.Errorf("%+v", s)
	}
	if s.AllOnDemand != 480*6 || math.Abs(s.Restarts-0.01*24*9) > 1e-9 {
		t.Errorf("%+v", s)
	}
	if saved := 1 - s.Dollars/s.AllOnDemand; math.Abs(s.Saved()-saved) > 1e-12 || saved < 0.26 || saved > 0.28 {
		t.Errorf("saved %v", s.Saved())
	}
	if want := 9 * 0.01 / 12 / (20 + 9*0.01/12); math.Abs(s.Missing-want) > 1e-12 {
		t.Errorf("missing %v, want %v", s.Missing, want)
	}
}

// Spot is worth it as long as its price and its restarts are less than the price on demand.
func TestSplitFleetBreaksEven(t *testing.T) {
	on, lead := fleet.Shape{Price: 3, GPUs: 1}, 30*time.Minute
	for _, c := range []struct {
		market fleet.SpotMarket
		saves  bool
	}{
		{fleet.SpotMarket{Price: 2, Interruptions: 0.99}, true},
		{fleet.SpotMarket{Price: 2, Interruptions: 1.01}, false},
	} {
		s, err := fleet.SplitFleet([]float64{1, 1, 5}, 7, on, c.market, lead)
		if err != nil {
			t.Fatal(err)
		}
		if saves := s.Saved() > 0; saves != c.saves {
			t.Errorf("%+v saves %v", c.market, s.Saved())
		}
	}
}

func TestSplitFleetIsChecked(t *testing.T) {
	for name, replicas := range map[string][]float64{
		"none": {}, "never any": {0, 0}, "less than none": {3, -1}, "unknown": {1, math.NaN()}, "infinite": {math.Inf(1)},
	} {
		if _, err := fleet.SplitFleet(replicas, 10, fleet.Shape{}, fleet.SpotMarket{}, time.Minute); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := fleet.SplitFleet([]float64{1}, math.NaN(), fleet.Shape{}, fleet.SpotMarket{},
		time.Minute); err == nil {
		t.Error("unknown hours: no error")
	}
}
