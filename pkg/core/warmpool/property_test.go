package warmpool_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// odd draws a number that is sometimes invalid.
func odd(rng *rand.Rand, ordinary float64) float64 {
	switch rng.IntN(12) {
	case 0:
		return []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e300, -1e300, 1e-300}[rng.IntN(8)]
	default:
		return ordinary * rng.Float64()
	}
}

func oddCount(rng *rand.Rand, ordinary int) int {
	if rng.IntN(12) == 0 {
		return []int{-1, 0, math.MinInt, math.MaxInt}[rng.IntN(4)]
	}
	return rng.IntN(ordinary)
}

func oddSpan(rng *rand.Rand, ordinary time.Duration) time.Duration {
	if rng.IntN(12) == 0 {
		return []time.Duration{-1, 0, math.MinInt64, math.MaxInt64, 1}[rng.IntN(5)]
	}
	return time.Duration(rng.Int64N(int64(ordinary)))
}

func oddPool(rng *rand.Rand) warmpool.Pool {
	return warmpool.Pool{
		Quantile: odd(rng, 1), Min: oddCount(rng, 5), Max: oddCount(rng, 50), Fallback: oddCount(rng, 10),
		GPUs: odd(rng, 16), Budget: odd(rng, 100), Split: rng.IntN(2) == 0,
		Pod: oddSpan(rng, 10*time.Minute), Node: oddSpan(rng, 20*time.Minute),
	}
}

func oddMember(rng *rand.Rand, name string, now time.Time) warmpool.Member {
	m := warmpool.Member{
		Name:        name,
		Chunks:      odd(rng, 2),
		Target:      odd(rng, 2000),
		MinReplicas: oddCount(rng, 5),
		MaxReplicas: oddCount(rng, 40),
		Placed:      oddCount(rng, 10),
		Waiting:     oddCount(rng, 3),
		Outlook:     warmpool.Outlook{Served: odd(rng, 9000), Observed: odd(rng, 9000)},
	}
	if rng.IntN(8) == 0 {
		m.Outlook.Unreliable = "is stale"
	}
	for range rng.IntN(5) {
		w := windowpeak.Window{Horizon: oddSpan(rng, time.Hour)}
		for i := range w.Quantiles {
			w.Quantiles[i] = odd(rng, 9000)
		}
		m.Outlook.Windows = append(m.Outlook.Windows, w)
	}
	if rng.IntN(2) == 0 {
		m.Outlook.Windows = windows(9000*rng.Float64(), 500*rng.Float64())
	}
	recent := forecast.Series{Start: now.Add(-oddSpan(rng, 25*time.Hour)), Step: oddSpan(rng, 10*time.Minute)}
	if rng.IntN(2) == 0 {
		recent.Step, recent.Start = 5*time.Minute, now.Truncate(5*time.Minute).Add(-24*time.Hour)
	}
	for range rng.IntN(2) * 288 {
		recent.Values = append(recent.Values, odd(rng, 9000))
	}
	m.Outlook.Recent = recent
	return m
}

func oddMembers(rng *rand.Rand, now time.Time) []warmpool.Member {
	members := make([]warmpool.Member, rng.IntN(6))
	for i := range members {
		members[i] = oddMember(rng, fmt.Sprintf("m%d", i), now)
	}
	return members
}

// check returns which invariant a plan violates.
func check(p warmpool.Pool, plan warmpool.Plan, m warmpool.Memory) error {
	most := min(max(p.Max, 0), 1_000_000)
	switch {
	case plan.Want < min(max(p.Min, 0), most) || plan.Want > most:
		return fmt.Errorf("%d wanted, want %d to %d", plan.Want, p.Min, p.Max)
	case plan.Base < 0 || plan.Tail < 0 || plan.Base+plan.Tail != plan.Want:
		return fmt.Errorf("%d + %d are not %d", plan.Base, plan.Tail, plan.Want)
	case plan.Pod < 0 || plan.Node < 0 || plan.Borrowed < 0:
		return fmt.Errorf("negative: %+v", plan)
	case !(plan.Idle >= 0 && plan.Left >= 0) || math.IsInf(plan.Idle+plan.Left, 0):
		return fmt.Errorf("%v idle, %v left", plan.Idle, plan.Left)
	case plan.Message == "" || plan.State == "":
		return fmt.Errorf("no words: %+v", plan)
	}
	if again, err := warmpool.RestoreMemory(m.Past(), m.Wants()); err != nil || again != m {
		return fmt.Errorf("%+v is recalled as %+v: %w", m, again, err)
	}
	return nil
}

func TestWhateverComesAPlanIsWithinItsBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	now := noon()
	var m warmpool.Memory
	for k := range 3000 {
		now = now.Add(oddSpan(rng, time.Hour) % (40 * time.Hour))
		p, members := oddPool(rng), oddMembers(rng, now)
		c := warmpool.Capacity{Held: oddCount(rng, 10), Ready: oddCount(rng, 10)}
		plan, next := m.Plan(now, p, members, c)
		if err := check(p, plan, next); err != nil {
			t.Fatalf("%d: %v\n%+v\n%+v", k, err, p, members)
		}
		rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		if again, other := m.Plan(now, p, members, c); again != plan || other != next {
			t.Fatalf("%d: in another order\n%+v, not\n%+v", k, again, plan)
		}
		m = next
	}
}

// More demand never gives fewer chunks, nor does a higher quantile, or fewer replicas that have a place.
func TestMoreDemandIsNeverFewerChunks(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	now := noon()
	for range 300 {
		var members []warmpool.Member
		for i := range 1 + rng.IntN(6) {
			m := wandering(fmt.Sprintf("m%d", i), rng.Uint64(), now)
			m.Chunks = []float64{0.25, 0.5, 1, 4}[rng.IntN(4)]
			members = append(members, m)
		}
		p := plain()
		p.Max, p.Quantile = 1000, 0.5+0.495*rng.Float64()
		want := func(members []warmpool.Member, p warmpool.Pool) int {
			plan, _ := warmpool.Memory{}.Plan(now, p, members, warmpool.Capacity{})
			return plan.Want
		}
		before := want(members, p)
		i := rng.IntN(len(members))
		more, fewer := slices.Clone(members), slices.Clone(members)
		more[i].Outlook.Windows = slices.Clone(more[i].Outlook.Windows)
		for w := range more[i].Outlook.Windows {
			for q := range more[i].Outlook.Windows[w].Quantiles {
				more[i].Outlook.Windows[w].Quantiles[q] *= 1 + rng.Float64()
			}
		}
		for w := range more[i].Outlook.Windows {
			slices.Sort(more[i].Outlook.Windows[w].Quantiles[:])
		}
		fewer[i].Placed = rng.IntN(4)
		higher := p
		higher.Quantile = min(0.995, p.Quantile+0.1)
		if a, b, c := want(more, p), want(fewer, p), want(members, higher); a < before || b < before || c < before {
			t.Fatalf("%d; with more demand %d, with fewer replicas %d, at a higher quantile %d", before, a, b, c)
		}
	}
}

// Members together never need more than the sum of what each needs alone.
func TestSharingNeverCostsMore(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	now, p := noon(), plain()
	p.Max = 1000
	saved := 0
	for range 150 {
		var members []warmpool.Member
		sum := 0
		for i := range 2 + rng.IntN(5) {
			m := wandering(fmt.Sprintf("m%d", i), rng.Uint64(), now)
			m.Target = 50 + 500*rng.Float64()
			for w := range m.Outlook.Windows {
				m.Outlook.Windows[w].Quantiles[8] *= 10 // A heavy tail.
				m.Outlook.Windows[w].Quantiles[9] *= 10
			}
			one, _ := warmpool.Memory{}.Plan(now, p, []warmpool.Member{m}, warmpool.Capacity{})
			sum += one.Node
			members = append(members, m)
		}
		all, _ := warmpool.Memory{}.Plan(now, p, members, warmpool.Capacity{})
		if all.Node > sum {
			t.Fatalf("%d together, %d apart: %s", all.Node, sum, all.Message)
		}
		saved += sum - all.Node
	}
	if saved == 0 {
		t.Error("sharing saved nothing")
	}
}

func TestGangsAndFractions(t *testing.T) {
	of := func(chunks, more float64) warmpool.Member {
		m := wanting(more)
		m.Name, m.Chunks = fmt.Sprint(chunks), chunks
		return m
	}
	for _, tt := range []struct {
		what    string
		max     int
		members []warmpool.Member
		want    int
	}{
		{"a group of four nodes is whole", 20, []warmpool.Member{of(4, 3)}, 12},
		{"no part of a group is held", 10, []warmpool.Member{of(4, 3)}, 8},
		{"groups of four and of six come in twos", 9, []warmpool.Member{of(4, 1), of(6, 1)}, 8},
		{"halves share a chunk", 20, []warmpool.Member{of(0.5, 3)}, 2},
		{"a half and two quarters share one", 20, []warmpool.Member{of(0.5, 1), of(0.25, 2)}, 1},
		{"ten tenths are one", 20, []warmpool.Member{of(0.1, 10)}, 1},
		{"seven sevenths are one", 20, []warmpool.Member{of(1.0/7, 7)}, 1},
	} {
		p := plain()
		p.Max = tt.max
		plan, _ := warmpool.Memory{}.Plan(noon(), p, tt.members, warmpool.Capacity{})
		if plan.Want != tt.want {
			t.Errorf("%s: %d, want %d: %s", tt.what, plan.Want, tt.want, plan.Message)
		}
	}
}

// The first capacity type has the median of what is wanted, and what is held in any case.
func TestTheCapacityTypes(t *testing.T) {
	m := wanting(0)
	m.Outlook.Windows = []windowpeak.Window{window(time.Hour, 5500, 9000)} // 6 replicas at the median, 9 at 0.95.
	split, least, whole := plain(), plain(), plain()
	split.Split, least.Split, least.Min = true, true, 4
	for _, tt := range []struct {
		what       string
		pool       warmpool.Pool
		member     warmpool.Member
		base, tail int
	}{
		{"the median and the rest", split, m, 2, 3},
		{"at least so many", least, m, 4, 1},
		{"the fallback can be relied on", split, unreliable(m), 3, 0},
		{"one type only", whole, m, 5, 0},
	} {
		plan, _ := warmpool.Memory{}.Plan(noon(), tt.pool, []warmpool.Member{tt.member}, warmpool.Capacity{})
		if plan.Base != tt.base || plan.Tail != tt.tail {
			t.Errorf("%s: %d and %d, want %d and %d: %s", tt.what, plan.Base, plan.Tail, tt.base, tt.tail, plan.Message)
		}
	}
}

// Beyond the longest window the quantiles grow with the square root of time, and the message says so.
func TestBeyondTheForecasts(t *testing.T) {
	m, p := wanting(0), plain()
	p.Node = 4*time.Hour - leadtime.Window(p.Pod)
	m.Outlook.Windows = []windowpeak.Window{window(15*time.Minute, 12_000, 12_000), window(time.Hour, 14_000, 14_000)}
	plan, _ := warmpool.Memory{}.Plan(noon(), p, []warmpool.Member{m}, warmpool.Capacity{})
	if plan.Node != 18-4 || !strings.Contains(plan.Message, "the forecasts end after 1h") {
		t.Errorf("%d, want 14: %s", plan.Node, plan.Message)
	}
	m.Outlook.Windows = []windowpeak.Window{window(time.Hour, 6000, 8000)}
	if plan, _ = (warmpool.Memory{}).Plan(noon(), p, []warmpool.Member{m}, warmpool.Capacity{}); plan.Node != 10-4 {
		t.Errorf("%d from one window, want 6 + 2·2 − 4: %s", plan.Node, plan.Message)
	}
}

func TestTheAutoscalersBounds(t *testing.T) {
	for _, tt := range []struct {
		what string
		edit func(*warmpool.Member)
		want int
	}{
		{"unbounded", func(*warmpool.Member) {}, 6},
		{"no more replicas than there may be", func(m *warmpool.Member) { m.MaxReplicas = 7 }, 3},
		{"already above", func(m *warmpool.Member) { m.MaxReplicas = 3 }, 0},
		{"no fewer than there must be", func(m *warmpool.Member) { m.MinReplicas = 12 }, 8},
		{"what waits is on its way", func(m *warmpool.Member) { m.Waiting = 2 }, 4},
		{"what is served is asked for already", func(m *warmpool.Member) { m.Outlook.Served = 15_000 }, 11},
		{"and is bounded too", func(m *warmpool.Member) { m.Outlook.Served, m.MaxReplicas = 15_000, 9 }, 5},
	} {
		m := wanting(6)
		tt.edit(&m)
		plan, _ := warmpool.Memory{}.Plan(noon(), plain(), []warmpool.Member{m}, warmpool.Capacity{})
		if plan.Want != tt.want {
			t.Errorf("%s: %d, want %d: %s", tt.what, plan.Want, tt.want, plan.Message)
		}
	}
}

// A member's surplus is no place for another.
func TestAMembersSurplusIsItsOwn(t *testing.T) {
	has, wants := wanting(-3), wanting(5)
	has.Name, has.Placed = "phi", 12
	plan, _ := warmpool.Memory{}.Plan(noon(), plain(), []warmpool.Member{has, wants}, warmpool.Capacity{})
	if plan.Want != 5 {
		t.Errorf("%d, want 5: %s", plan.Want, plan.Message)
	}
}

// Members whose past is on another grid, short or missing are coupled as far as possible.
func TestOtherGrids(t *testing.T) {
	now := noon()
	same := []warmpool.Member{wandering("a", 1, now), wandering("b", 2, now), wandering("c", 3, now)}
	p := plain()
	p.Max = 1000
	plan := func(members []warmpool.Member) warmpool.Plan {
		out, _ := warmpool.Memory{}.Plan(now, p, members, warmpool.Capacity{})
		return out
	}
	finer := slices.Clone(same)
	r := &finer[1].Outlook.Recent
	r.Values = slices.Clone(r.Values)
	doubled := make([]float64, 0, 2*len(r.Values))
	for _, v := range r.Values {
		doubled = append(doubled, v, v)
	}
	r.Step, r.Values = r.Step/2, doubled
	if got, want := plan(finer), plan(same); got != want {
		t.Errorf("on a finer grid %+v, want %+v", got, want)
	}
	for i := range same {
		same[i].Outlook.Recent = same[i].Outlook.Recent.Slice(200, 288)
	}
	coupled := plan(same).Node
	for i := range same {
		same[i].Outlook.Recent = same[i].Outlook.Recent.Slice(60, 88)
	}
	if apart := plan(same); apart.Node < coupled || apart.Message == "" {
		t.Errorf("with too little in common %d, with more %d: %s", apart.Node, coupled, apart.Message)
	}
}
