package warmpool_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

// Recorded demand as members of a pool: five workloads side by side, one workload delayed by hours as five (a daily
// cycle around the world), and one divided among five whose shares vary. A member's forecast is the rise over the
// window after each moment of its last three days, relative to the demand then.
func TestTheJointQuantileOnRecordedDemand(t *testing.T) {
	names := []string{"sg_small_min", "sg_small_10i", "wc98_b", "elb", "tw_amzn"}
	all := recorded(t, names)
	pools := map[string][][]float64{"all five": all, "two of one service": all[:2]}
	order := []string{"all five", "two of one service"}
	rng := rand.New(rand.NewPCG(3, 4))
	for i, name := range names {
		x := all[i]
		apart, divided := name+", around the world", name+", divided"
		order = append(order, apart, divided)
		pools[apart] = [][]float64{x, later(x, 3), later(x, 6), later(x, 12), later(x, 24)}
		pools[divided] = shares(x, 5, rng)
	}
	t.Logf("%-32s size over mean demand (windows covered, %%): plan, sum of quantiles", "")
	var plan, sum tally
	for _, name := range order {
		p, s := replay(pools[name])
		t.Logf("%-32s %6.3f (%5.1f)   %6.3f (%5.1f)", name, p.size, p.covered, s.size, s.covered)
		plan.add(p, len(order))
		sum.add(s, len(order))
		// Where even the sum of the members' quantiles covers less, the members' own quantiles are too low.
		if p.covered < min(92, s.covered) {
			t.Errorf("%s: %.1f %% of the windows are covered", name, p.covered)
		}
	}
	t.Logf("%-32s %6.3f (%5.1f)   %6.3f (%5.1f)", "mean", plan.size, plan.covered, sum.size, sum.covered)
	if plan.covered < 95 || plan.size > 0.92*sum.size {
		t.Errorf("a size of %.3f covers %.1f %%, the sum of quantiles %.1f %% with %.3f",
			plan.size, plan.covered, sum.covered, sum.size)
	}
}

type tally struct{ size, covered float64 }

func (a *tally) add(b tally, n int) {
	a.size += b.size / float64(n)
	a.covered += b.covered / float64(n)
}

const (
	second15 = 15 * time.Second
	perDay   = int(24 * time.Hour / second15)
	perPoint = int(5 * time.Minute / second15)
)

// replay plans every two hours for the pod's window with a lead time of five minutes, and compares with the actual
// demand.
func replay(members [][]float64) (plan, sum tally) {
	const lead, days = 5 * time.Minute, 3
	window := int(leadtime.Window(lead) / second15)
	highest := make([][]float64, len(members))
	total := make([]float64, len(members[0]))
	for i, x := range members {
		highest[i] = highestWithin(x, window)
		for j, v := range x {
			total[j] += v
		}
	}
	came := highestWithin(total, window)
	n, mean := 0.0, 0.0
	for now := days * perDay; now+window < len(total); now += perDay / 12 {
		distributions, recent := make([]windowpeak.Quantiles, len(members)), make([]forecast.Series, len(members))
		for i, x := range members {
			distributions[i] = risen(x[now-days*perDay:now-window], highest[i][now-days*perDay:now-window], x[now])
			recent[i] = coarse(x[now-perDay : now])
		}
		z := sized(distributions, recent, lead)
		n, mean = n+1, mean+total[now]
		for t, size := range map[*tally]float64{&plan: z.plan, &sum: z.sum} {
			t.size += size
			if came[now] <= size {
				t.covered++
			}
		}
	}
	for _, t := range []*tally{&plan, &sum} {
		t.size, t.covered = t.size/mean, 100*t.covered/n
	}
	return plan, sum
}

// risen is the demand now times its past rises.
func risen(x, highest []float64, now float64) windowpeak.Quantiles {
	const floor = 0.5
	var ratios []float64
	for j := 0; j < len(x); j += perPoint {
		ratios = append(ratios, highest[j]/max(x[j], floor)*max(now, floor))
	}
	return distribution(ratios)
}

func coarse(x []float64) forecast.Series {
	out := forecast.Series{Start: time.Unix(0, 0), Step: 5 * time.Minute, Values: make([]float64, len(x)/perPoint)}
	for i, v := range x {
		out.Values[i/perPoint] += v / float64(perPoint)
	}
	return out
}

// highestWithin is the maximum over the n steps after each step.
func highestWithin(x []float64, n int) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		if rest := x[i+1 : min(i+1+n, len(x))]; len(rest) > 0 {
			out[i] = slices.Max(rest)
		}
	}
	return out
}

func later(x []float64, hours int) []float64 {
	by := hours * perDay / 24
	return slices.Concat(x[len(x)-by:], x[:len(x)-by])
}

// shares divides a demand among members whose shares vary within the hour.
func shares(x []float64, members int, rng *rand.Rand) [][]float64 {
	out, state := make([][]float64, members), make([]float64, members)
	for i := range out {
		out[i], state[i] = make([]float64, len(x)), rng.NormFloat64()
	}
	keep := math.Exp(-15.0 / 3600)
	for j, v := range x {
		total := 0.0
		for i := range state {
			state[i] = keep*state[i] + math.Sqrt(1-keep*keep)*rng.NormFloat64()
			total += math.Exp(0.4 * state[i])
		}
		for i := range state {
			out[i][j] = v * math.Exp(0.4*state[i]) / total
		}
	}
	return out
}

func recorded(t *testing.T, names []string) [][]float64 {
	t.Helper()
	data := os.Getenv("FOREWARM_DATA")
	if data == "" {
		t.Skip("FOREWARM_DATA is unset: it names the folder with outcome/series_15s")
	}
	out := make([][]float64, len(names))
	for i, name := range names {
		s, err := trace.ReadFile(filepath.Join(data, "outcome", "series_15s", name+".csv.gz"), "value")
		if err != nil {
			t.Fatal(err)
		}
		out[i] = s.Values
	}
	return out
}
