package demand_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

// believed sums up how a filter treats a recorded demand.
type believed struct {
	// held counts the stretches in which samples waited, longest is the longest of them; suspects were never
	// corroborated.
	held, suspects int
	longest        time.Duration
	// exceeded counts the steps whose next lead window rose above the bound, of so many steps.
	exceeded, steps int
}

// believe filters a demand whose mean is twelve replicas.
func believe(load []float64) believed {
	c := config()
	sum := 0.0
	for _, v := range load {
		sum += v
	}
	c.Replica = sum / float64(len(load)) / 12
	f, out := demand.NewFilter(c), believed{steps: len(load)}
	waiting := 0
	for i, v := range load {
		for _, s := range f.Step(demand.Reading{Demand: v}) {
			if s.Suspect {
				out.suspects++
			}
		}
		if now := len(f.Waiting()); now > 0 {
			if waiting == 0 {
				out.held++
			}
			out.longest = max(out.longest, time.Duration(now)*c.Step)
			waiting = now
		} else {
			waiting = 0
		}
		peak := 0.0
		for _, ahead := range load[i+1 : min(i+1+c.Windows[c.Lead], len(load))] {
			peak = math.Max(peak, ahead)
		}
		if peak > math.Max(f.Bound().Limit(c.Lead).Forecast, c.Replica) {
			out.exceeded++
		}
	}
	return out
}

// Recorded demand is hardly ever held back, never for longer than the corroboration time, and hardly ever rises above
// the bound.
func TestRecordedDemandIsBelieved(t *testing.T) {
	data := os.Getenv("FOREWARM_DATA")
	if data == "" {
		t.Skip("set FOREWARM_DATA to the folder of reference data to try recorded demand")
	}
	all := believed{}
	for _, pattern := range []string{"outcome/series_15s/*.csv.gz", "outcome/workloads/*.csv.gz"} {
		files, err := filepath.Glob(filepath.Join(data, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s in %s (%v)", pattern, data, err)
		}
		for _, file := range files {
			s, err := trace.ReadFile(file, "value")
			if err == nil {
				s, err = simulate.Resample(s, filterStep)
			}
			if err != nil {
				t.Fatal(err)
			}
			one := believe(s.Values)
			name, _, _ := strings.Cut(filepath.Base(file), ".")
			t.Logf("%-18s held %2d times, %s at most; %d samples never believed; %.2f %% of windows above the bound",
				name, one.held, one.longest, one.suspects, 100*float64(one.exceeded)/float64(one.steps))
			all.held, all.suspects = all.held+one.held, all.suspects+one.suspects
			all.exceeded, all.steps = all.exceeded+one.exceeded, all.steps+one.steps
			all.longest = max(all.longest, one.longest)
		}
	}
	t.Logf("all: held %d times, %s at most, %d suspects in %d steps, %d windows above the bound",
		all.held, all.longest, all.suspects, all.steps, all.exceeded)
	if wait := config().Corroboration; all.longest > wait {
		t.Errorf("demand was held for %s, want %s at most", all.longest, wait)
	}
	if share := float64(all.exceeded) / float64(all.steps); all.held > 100 || all.suspects > 100 || share > 0.001 {
		t.Errorf("%d holds, %d suspects, %.4f of windows above the bound: the bound is too low", all.held,
			all.suspects, share)
	}
}
