package fleet_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/offline/fleet"
)

func loads(t *testing.T, texts ...string) []fleet.Load {
	t.Helper()
	out := make([]fleet.Load, len(texts))
	for i, text := range texts {
		l, err := fleet.ParseLoad(text)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = l
	}
	return out
}

func pack(t *testing.T, all []fleet.Load, sharing fleet.Sharing) *fleet.Packing {
	t.Helper()
	p, err := fleet.Pack(all, sharing)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// plan is a packing in words, GPU by GPU.
func plan(p *fleet.Packing) []string {
	out := make([]string, len(p.Plan))
	for i, h := range p.Plan {
		out[i] = fmt.Sprintf("%d: %s, %s free", h.GPUs, h, fleet.FormatFraction(h.Free))
	}
	return out
}

func TestPack(t *testing.T) {
	for _, c := range []struct {
		name                  string
		loads                 []string
		sharing               fleet.Sharing
		gpus, unsliced, least int
		wasted                string
		plan                  []string
	}{
		{
			"four quarters are one",
			[]string{"a=0.25", "b=0.25", "c=0.25", "d=0.25"},
			fleet.MPS,
			1, 4, 1, "0",
			[]string{"1: 1 × a (0.25), 1 × b (0.25), 1 × c (0.25), 1 × d (0.25), 0 free"},
		},
		{
			"three of 0.3 leave a tenth",
			[]string{"a=0.3,replicas=3"},
			fleet.TimeSlicing,
			1, 3, 1, "0.1",
			[]string{"1: 3 × a (0.3), 0.1 free"},
		},
		{
			"a fourth of 0.3 takes another",
			[]string{"a=0.3,replicas=4"},
			fleet.TimeSlicing,
			2, 4, 2, "0.8",
			[]string{"1: 3 × a (0.3), 0.1 free", "1: 1 × a (0.3), 0.7 free"},
		},
		{
			"what is left of the large is for the small",
			[]string{"small=0.1,replicas=7", "large=0.7,replicas=2"},
			fleet.MPS,
			3, 9, 3, "0.9",
			[]string{"2: 1 × large (0.7), 3 × small (0.1), 0 free", "1: 1 × small (0.1), 0.9 free"},
		},
		{
			"thirds are exact",
			[]string{"a=1/3,replicas=300000"},
			fleet.TimeSlicing,
			100_000, 300_000, 100_000, "0",
			[]string{"100000: 3 × a (1/3), 0 free"},
		},
		{
			"MIG has no quarter of seven",
			[]string{"a=0.25,replicas=4"},
			fleet.MIG,
			2, 4, 2, "1",
			[]string{"1: 3 × a (2g), 1/7 free", "1: 1 × a (2g), 5/7 free"},
		},
		{
			"a 3g takes half of the memory",
			[]string{"a=0.4,replicas=2", "b=0.1"},
			fleet.MIG,
			2, 3, 2, "1.1",
			[]string{"1: 2 × a (3g), 0 free", "1: 1 × b (1g), 6/7 free"},
		},
		{
			"a 4g and a 3g fill a GPU",
			[]string{"a=0.4", "b=0.5"},
			fleet.MIG,
			1, 2, 1, "0.1",
			[]string{"1: 1 × b (4g), 1 × a (3g), 0 free"},
		},
		{
			"more than half is whole under MIG",
			[]string{"a=0.51,replicas=2"},
			fleet.MIG,
			2, 2, 2, "0.98",
			[]string{"2: 1 × a (7g), 0 free"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pack(t, loads(t, c.loads...), c.sharing)
			if p.GPUs != c.gpus || p.Unsliced != c.unsliced || p.Least != c.least {
				t.Errorf("%d GPUs of %d unsliced, %d at least; want %d of %d, %d",
					p.GPUs, p.Unsliced, p.Least, c.gpus, c.unsliced, c.least)
			}
			if got := fleet.FormatFraction(p.Wasted()); got != c.wasted {
				t.Errorf("%s wasted, want %s", got, c.wasted)
			}
			if diff := cmp.Diff(c.plan, plan(p)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPackIsChecked(t *testing.T) {
	good := loads(t, "a=0.5")[0]
	for name, all := range map[string][]fleet.Load{
		"none":         {},
		"twice":        {good, good},
		"no fraction":  {{Name: "a", Replicas: 1}},
		"more than 1":  {{Name: "a", Fraction: big.NewRat(3, 2), Replicas: 1}},
		"0":            {{Name: "a", Fraction: new(big.Rat), Replicas: 1}},
		"no replicas":  {{Name: "a", Fraction: big.NewRat(1, 2)}},
		"too many":     {{Name: "a", Fraction: big.NewRat(1, 2), Replicas: fleet.MostReplicas + 1}},
		"one of these": {good, {Name: "b", Fraction: big.NewRat(-1, 2), Replicas: 1}},
	} {
		if p, err := fleet.Pack(all, fleet.MPS); err == nil {
			t.Errorf("%s: packed onto %d GPUs", name, p.GPUs)
		}
	}
}

// randomLoads loads of sizes in twelfths or in hundredths.
func randomLoads(random *rand.Rand) []fleet.Load {
	parts := int64(12)
	if random.IntN(2) == 0 {
		parts = 100
	}
	out := make([]fleet.Load, 1+random.IntN(8))
	for i := range out {
		out[i] = fleet.Load{
			Name:     string(rune('a' + i)),
			Fraction: big.NewRat(1+random.Int64N(parts), parts),
			Replicas: 1 + random.IntN(9),
		}
	}
	return out
}

// Whatever the loads, every replica is placed once, no GPU holds more than it has, and the number of GPUs lies between
// what nothing can do without and what any first fit keeps to: all GPUs but one are more than half full.
func TestPackKeepsItsBounds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		all := randomLoads(random)
		p := pack(t, all, fleet.MPS)
		placed, gpus := make(map[string]int), 0
		for _, h := range p.Plan {
			held := new(big.Rat).Set(h.Free)
			gpus += h.GPUs
			for _, part := range h.Parts {
				placed[part.Load] += part.Count * h.GPUs
				i := slices.IndexFunc(all, func(l fleet.Load) bool { return l.Name == part.Load })
				held.Add(held, new(big.Rat).Mul(all[i].Fraction, big.NewRat(int64(part.Count), 1)))
			}
			if h.Free.Sign() < 0 || held.Cmp(big.NewRat(1, 1)) != 0 {
				t.Fatalf("%v: a GPU holds %s with %s free", all, h, h.Free)
			}
		}
		for _, l := range all {
			if placed[l.Name] != l.Replicas {
				t.Fatalf("%d replicas of %s are placed, want %d", placed[l.Name], l.Name, l.Replicas)
			}
		}
		asked, _ := p.Requested.Float64()
		if p.GPUs != gpus || p.GPUs < p.Least || p.GPUs > p.Unsliced || float64(p.GPUs) >= 2*asked+1 {
			t.Fatalf("%v: %d GPUs, %d at least, for %v", all, p.GPUs, p.Least, asked)
		}
	}
}

// The order of the loads does not matter, for any way to share.
func TestPackDoesNotDependOnOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		all := randomLoads(random)
		for _, sharing := range fleet.Sharings() {
			want := plan(pack(t, all, sharing))
			random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			if diff := cmp.Diff(want, plan(pack(t, all, sharing))); diff != "" {
				t.Fatal(diff)
			}
		}
	}
}

// Counting equal GPUs gives what the plain algorithm gives, one replica after the other.
func TestPackAgainstPlainFirstFit(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		all := randomLoads(random)
		var sizes []*big.Rat
		for _, l := range all {
			for range l.Replicas {
				sizes = append(sizes, l.Fraction)
			}
		}
		slices.SortFunc(sizes, func(a, b *big.Rat) int { return b.Cmp(a) })
		var free []*big.Rat
		for _, size := range sizes {
			i := slices.IndexFunc(free, func(f *big.Rat) bool { return f.Cmp(size) >= 0 })
			if i < 0 {
				i, free = len(free), append(free, big.NewRat(1, 1))
			}
			free[i].Sub(free[i], size)
		}
		if got := pack(t, all, fleet.TimeSlicing).GPUs; got != len(free) {
			t.Fatalf("%v: %d GPUs, first fit takes %d", all, got, len(free))
		}
	}
}

// Beside the best of all packings, found by trying them, it keeps to the bound of Dósa (2007).
func TestPackAgainstTheBest(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		all := randomLoads(random)
		var sizes []int64
		for i := range all {
			all[i].Replicas = 1
			all[i].Fraction = big.NewRat(1+random.Int64N(60), 60)
			sizes = append(sizes, new(big.Rat).Mul(all[i].Fraction, big.NewRat(60, 1)).Num().Int64())
		}
		best := fewest(sizes, nil, len(sizes))
		got := pack(t, all, fleet.MPS).GPUs
		if got < best || 9*got > 11*best+6 {
			t.Fatalf("%v: %d GPUs, the best packing takes %d", all, got, best)
		}
	}
}

// fewest bins of 60 for the sizes beside those that are open, at most as many as known.
func fewest(sizes, free []int64, known int) int {
	if len(sizes) == 0 {
		return min(len(free), known)
	}
	for i := range free {
		if free[i] >= sizes[0] {
			free[i] -= sizes[0]
			known = min(known, fewest(sizes[1:], free, known))
			free[i] += sizes[0]
		}
	}
	if len(free) < known {
		known = min(known, fewest(sizes[1:], append(slices.Clone(free), 60-sizes[0]), known))
	}
	return known
}

// Four workloads with a quarter of a GPU each.
func ExamplePack() {
	const price = 3.06
	p, err := fleet.Pack([]fleet.Load{{Name: "quarter", Fraction: big.NewRat(1, 4), Replicas: 4}}, fleet.MPS)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("$%.2f an hour unsliced, $%.2f sliced: %.0f %% saved\n",
		price*float64(p.Unsliced), price*float64(p.GPUs), 100*p.Saved())
	// Output:
	// $12.24 an hour unsliced, $3.06 sliced: 75 % saved
}

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
