package warmpool_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// The planner's joint quantile equals its definition, which this test computes directly, for members on one grid
// without gaps.
func TestTheFastSumEqualsThePlainOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	now := noon()
	for range 200 {
		p := plain()
		p.Max, p.Quantile = 10_000, 0.5+0.49*rng.Float64()
		p.Pod, p.Node = oddLead(rng), oddLead(rng)
		var members []warmpool.Member
		for i := range 2 + rng.IntN(6) {
			m := wandering(fmt.Sprintf("m%d", i), rng.Uint64(), now)
			m.Target, m.Chunks = 20+500*rng.Float64(), []float64{0.25, 1, 4}[rng.IntN(3)]
			m.MinReplicas, m.MaxReplicas, m.Placed = rng.IntN(5), rng.IntN(300), rng.IntN(50)
			members = append(members, m)
		}
		plan, _ := warmpool.Memory{}.Plan(now, p, members, warmpool.Capacity{})
		longest := leadtime.Window(p.Pod + p.Node)
		if pod, node := joint(members, leadtime.Window(p.Pod), longest, p.Quantile),
			joint(members, longest, longest, p.Quantile); plan.Pod != pod || plan.Node != node {
			t.Fatalf("%d and %d, want %d and %d: %s", plan.Pod, plan.Node, pod, node, plan.Message)
		}
	}
}

func oddLead(rng *rand.Rand) time.Duration { return time.Duration(rng.Int64N(int64(12 * time.Minute))) }

// joint is what is needed beyond what the members have over a window; the ranks are those of the rises over the
// longest.
func joint(members []warmpool.Member, window, longest time.Duration, level float64) int {
	step := members[0].Outlook.Recent.Step
	steps, far := int((window+step-1)/step), int((longest+step-1)/step)
	var moments []int
	for j := 0; j+far < 288; j++ {
		if (j+far)%2 == 0 {
			moments = append(moments, j)
		}
	}
	sums, apart := make([]float64, len(moments)), 0.0
	for _, m := range members {
		past := m.Outlook.Recent.Values
		rise := func(k int) float32 {
			j := moments[k]
			return float32(slices.Max(past[j+1:j+1+far]) - past[j])
		}
		byRise := make([]int, len(moments))
		for k := range byRise {
			byRise[k] = k
		}
		slices.SortStableFunc(byRise, func(a, b int) int { return cmp.Compare(rise(a), rise(b)) })
		q, _ := windowpeak.QuantilesAtHorizon(m.Outlook.Windows, window)
		apart += beyond(&m, q.At(level))
		for rank, k := range byRise {
			u := (float64(rank) + 0.5) / float64(len(moments))
			sums[k] += beyond(&m, q.At(u)*peaking(members, moments[k], steps))
		}
	}
	slices.Sort(sums)
	wanted := min(apart, sums[int(math.Ceil(level*float64(len(sums))-1e-6))-1])
	return int(math.Ceil(wanted - 1e-6))
}

// peaking is r: the highest sum within the steps after a moment over the sum of the members' maxima.
func peaking(members []warmpool.Member, moment, steps int) float64 {
	highest, together := 0.0, 0.0
	for j := moment + 1; j <= moment+steps; j++ {
		sum := 0.0
		for _, m := range members {
			sum += m.Outlook.Recent.Values[j] * m.Chunks / m.Target
		}
		together = max(together, sum)
	}
	for _, m := range members {
		highest += slices.Max(m.Outlook.Recent.Values[moment+1:moment+1+steps]) * m.Chunks / m.Target
	}
	return together / highest
}

func beyond(m *warmpool.Member, demand float64) float64 {
	most := math.Inf(1)
	if m.MaxReplicas > 0 {
		most = float64(m.MaxReplicas)
	}
	asked := func(demand float64) float64 {
		return min(max(math.Ceil(demand/m.Target-1e-6), float64(m.MinReplicas)), most)
	}
	return m.Chunks * max(0, max(asked(demand), asked(m.Outlook.Served))-float64(m.Placed))
}
