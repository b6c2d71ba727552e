package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// Packing is how many whole GPUs the loads take.
type Packing struct {
	Sharing Sharing
	// GPUs that are taken, and Unsliced those with one for each replica.
	GPUs, Unsliced int
	// Least is what no packing can do without: the sum of what is taken, rounded up.
	Least int
	// Requested is the sum of the fractions, in GPUs.
	Requested *big.Rat
	// Plan are the GPUs, those that hold the same in one.
	Plan []GPUGroup
}

// Wasted is the unused part of the GPUs that are paid for.
func (p *Packing) Wasted() *big.Rat {
	return new(big.Rat).Sub(big.NewRat(int64(p.GPUs), 1), p.Requested)
}

// Saved is the share of the GPUs that one for each replica would have taken more.
func (p *Packing) Saved() float64 { return 1 - float64(p.GPUs)/float64(p.Unsliced) }

// GPUGroup is a number of GPUs that hold the same.
type GPUGroup struct {
	GPUs  int
	Parts []Part
	// Free is what is left of each, of what there is least of.
	Free *big.Rat
}

// Part is what a load has of a GPU: so many replicas, each as a slice of a name.
type Part struct {
	Load  string
	Slice string
	Count int
}

// Pack puts the replicas of the loads onto GPUs, the largest first and each onto the first GPU that has room: first-fit
// decreasing, which takes at most 11/9 of the fewest GPUs and 2/3 of one more where a size is one number (Johnson 1973;
// Dósa 2007). The order of the loads does not matter. Equal GPUs are counted and not listed, so that a million replicas
// take no longer than one. It returns an error for every load that cannot be shared so.
func Pack(loads []Load, sharing Sharing) (*Packing, error) {
	items, err := sizedItems(loads, sharing)
	if err != nil {
		return nil, err
	}
	p := &Packing{Sharing: sharing, Requested: new(big.Rat)}
	for _, l := range loads {
		p.Unsliced += l.Replicas
		p.Requested.Add(p.Requested, new(big.Rat).Mul(l.Fraction, big.NewRat(int64(l.Replicas), 1)))
	}
	p.Least = leastGPUs(items)
	var bins []bin
	for i := range items {
		bins = placeItem(bins, &items[i])
	}
	for _, b := range bins {
		p.GPUs += b.gpus
		p.Plan = append(p.Plan, GPUGroup{GPUs: b.gpus, Parts: b.parts, Free: b.free.tightest()})
	}
	return p, nil
}

// item is a load with the size of its replicas.
type item struct {
	load  string
	slice slice
	count int
}

// sizedItems are the items by their size, the largest first.
func sizedItems(loads []Load, sharing Sharing) ([]item, error) {
	var problems []error
	items := make([]item, 0, len(loads))
	seen := make(map[string]bool)
	for _, l := range loads {
		if seen[l.Name] {
			problems = append(problems, fmt.Errorf("fraction %s is given twice", l.Name))
		}
		seen[l.Name] = true
		if err := l.validate(); err != nil {
			problems = append(problems, err)
			continue
		}
		items = append(items, item{l.Name, sharing.slice(l.Fraction), l.Replicas})
	}
	if len(loads) == 0 {
		problems = append(problems, errors.New("no fractions to pack"))
	}
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Or(b.slice.size.compare(a.slice.size), cmp.Compare(a.load, b.load))
	})
	return items, errors.Join(problems...)
}

func (l *Load) validate() error {
	if l.Fraction == nil || l.Fraction.Sign() <= 0 || l.Fraction.Cmp(big.NewRat(1, 1)) > 0 {
		return fmt.Errorf("fraction %s: want more than 0 and at most 1 GPU", l.Name)
	}
	if l.Replicas < 1 || l.Replicas > MostReplicas {
		return fmt.Errorf("fraction %s: %d replicas, want 1 to %d", l.Name, l.Replicas, MostReplicas)
	}
	return nil
}

// leastGPUs is the sum of what is taken, of that which is taken most, rounded up.
func leastGPUs(items []item) int {
	sum := size{compute: new(big.Rat), memory: new(big.Rat)}
	for i := range items {
		n := big.NewRat(int64(items[i].count), 1)
		sum.compute.Add(sum.compute, new(big.Rat).Mul(items[i].slice.size.compute, n))
		sum.memory.Add(sum.memory, new(big.Rat).Mul(items[i].slice.size.memory, n))
	}
	most := sum.compute
	if sum.memory.Cmp(most) > 0 {
		most = sum.memory
	}
	whole, rest := new(big.Int).QuoRem(most.Num(), most.Denom(), new(big.Int))
	return int(whole.Int64()) + rest.Sign()
}

// bin is a number of GPUs that hold the same.
type bin struct {
	gpus  int
	parts []Part
	free  size
}

// placeItem puts an item's replicas onto the bins in their order and opens new ones for those that are left. GPUs of a bin
// fill one after the other, so that it becomes at most three: those that are full of the item, one that holds the rest,
// and those that have none of it.
func placeItem(bins []bin, it *item) []bin {
	out := make([]bin, 0, len(bins)+2)
	left := it.count
	for _, b := range bins {
		out, left = fillBin(out, b, it, left)
	}
	if left == 0 {
		return out
	}
	one := big.NewRat(1, 1)
	out, _ = fillBin(out, bin{gpus: left, free: size{one, one}}, it, left)
	// GPUs that were opened and stayed empty are none.
	return slices.DeleteFunc(out, func(b bin) bool { return len(b.parts) == 0 })
}

func fillBin(out []bin, b bin, it *item, left int) ([]bin, int) {
	room := min(b.free.holds(it.slice.size), left)
	if room == 0 {
		return append(out, b), left
	}
	full := min(left/room, b.gpus)
	out = append(out, b.with(it, room, full))
	left -= full * room
	b.gpus -= full
	if b.gpus > 0 && left > 0 {
		// Less than the room of one is left.
		out = append(out, b.with(it, left, 1))
		left, b.gpus = 0, b.gpus-1
	}
	if b.gpus > 0 {
		out = append(out, b)
	}
	return out, left
}

// with is so many GPUs of a bin with so many replicas of an item more on each.
func (b bin) with(it *item, count, gpus int) bin {
	return bin{
		gpus:  gpus,
		parts: append(slices.Clone(b.parts), Part{it.load, it.slice.name, count}),
		free:  b.free.without(it.slice.size, count),
	}
}
