package fleet

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Sharing is how replicas share a GPU.
type Sharing string

// The ways to share, in the words of NVIDIA's device plugin.
const (
	// TimeSlicing takes turns: a replica has the whole GPU for its share of the time. Nothing keeps the replicas' memory
	// apart.
	TimeSlicing Sharing = "time-slicing"
	// MPS runs the replicas side by side, each with a limit to its share of the threads and of the memory.
	MPS Sharing = "mps"
	// MIG cuts the GPU into instances with compute and memory of their own. They come in a few sizes only.
	MIG Sharing = "mig"
)

// Sharings are all of them.
func Sharings() []Sharing { return []Sharing{TimeSlicing, MPS, MIG} }

// ParseSharing knows the names above.
func ParseSharing(text string) (Sharing, error) {
	if !slices.Contains(Sharings(), Sharing(text)) {
		return "", fmt.Errorf("sharing %q is unknown, want time-slicing, mps or mig", text)
	}
	return Sharing(text), nil
}

// Title is it in a sentence: time-slicing, MPS, MIG.
func (s Sharing) Title() string {
	if s == TimeSlicing {
		return string(s)
	}
	return strings.ToUpper(string(s))
}

// Note is what must be known before its packing is trusted.
func (s Sharing) Note() string {
	switch s {
	case MIG:
		return "MIG has instances of a few sizes only. Each replica gets the smallest instance with its share of both " +
			"compute and memory (sizes of an A100, H100 or H200 with seven slices)."
	case MPS:
		return "MPS limits each replica's compute and memory, but a fault of one replica can end all replicas on its GPU."
	default:
		return "Time-slicing isolates neither memory nor faults. The models of all replicas on a GPU must fit into its " +
			"memory together, and each replica runs only during its share of the time."
	}
}

// slice is what a replica has of a GPU, and its name where it has one.
type slice struct {
	name string
	size size
}

// slice for a fraction: as much of all, or the smallest instance that has as much.
func (s Sharing) slice(fraction *big.Rat) slice {
	if s != MIG {
		return slice{FormatFraction(fraction), size{fraction, fraction}}
	}
	all := instances()
	for _, one := range all {
		if one.size.compute.Cmp(fraction) >= 0 && one.size.memory.Cmp(fraction) >= 0 {
			return one
		}
	}
	return all[len(all)-1]
}

// instances of MIG by their size: of seven parts of the compute and eight of the memory (NVIDIA, Multi-Instance GPU User
// Guide, "Supported MIG profiles": A100, H100, H200; named by their compute alone, as the memory differs by the product).
// Any that fit by these parts can be placed together.
func instances() []slice {
	of := func(name string, compute, memory int64) slice {
		return slice{name, size{big.NewRat(compute, 7), big.NewRat(memory, 8)}}
	}
	return []slice{of("1g", 1, 1), of("2g", 2, 2), of("3g", 3, 4), of("4g", 4, 4), of("7g", 7, 8)}
}

// size is what is taken of a GPU.
type size struct{ compute, memory *big.Rat }

// compare by what is taken most.
func (s size) compare(t size) int { return s.most().Cmp(t.most()) }

func (s size) most() *big.Rat {
	if s.memory.Cmp(s.compute) > 0 {
		return s.memory
	}
	return s.compute
}

// tightest is what there is least of.
func (s size) tightest() *big.Rat {
	if s.memory.Cmp(s.compute) < 0 {
		return s.memory
	}
	return s.compute
}

// holds is how many of a size there is room for.
func (s size) holds(t size) int {
	return min(quotient(s.compute, t.compute), quotient(s.memory, t.memory))
}

// without is what is left when so many of a size are taken.
func (s size) without(t size, count int) size {
	n := big.NewRat(int64(count), 1)
	left := func(of, taken *big.Rat) *big.Rat {
		return new(big.Rat).Sub(of, new(big.Rat).Mul(taken, n))
	}
	return size{left(s.compute, t.compute), left(s.memory, t.memory)}
}

// quotient is how often the whole of b is in a.
func quotient(a, b *big.Rat) int {
	q := new(big.Rat).Quo(a, b)
	return int(new(big.Int).Quo(q.Num(), q.Denom()).Int64())
}

// String is the parts of a GPU: 4 × llama (0.25).
func (h GPUGroup) String() string {
	parts := make([]string, len(h.Parts))
	for i, p := range h.Parts {
		parts[i] = fmt.Sprintf("%d × %s (%s)", p.Count, p.Load, p.Slice)
	}
	return strings.Join(parts, ", ")
}
