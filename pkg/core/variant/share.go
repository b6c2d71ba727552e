package variant

import (
	"math"

	"github.com/forewarm/forewarm/pkg/core/distribute"
)

// Share implements distribute.Plan. The parts add up to the value plus what is Starting. They may exceed this sum because of the minima of
// the variants, because replicas are whole, and because an HPA would ignore a smaller change.
func (p Plan) Share(value float64) []distribute.Part {
	out, counts := make([]distribute.Part, len(p)), make([]float64, len(p))
	rest := value
	for i := range p {
		v := &p[i]
		out[v.Index] = distribute.Part{Name: v.Name, Capacity: v.Capacity, Value: v.Floor}
		counts[i] = math.Min(v.Floor, v.Most)
		if v.Slow {
			out[v.Index].Value, counts[i] = v.Base, v.Ready
		}
		rest -= counts[i]
	}
	rest = p.fill(out, counts, rest, false)
	rest = p.fill(
		out,
		counts,
		rest,
		true,
	) // The slow variants get what the other variants cannot serve, although they start late.
	for i := range p {
		p[i].finish(&out[p[i].Index], counts[i])
	}
	out[0].Value += math.Max(
		rest,
		0,
	) // The first variant gets the rest, so that no part is lost. Its HPA stops at its maximum.
	return out
}

// fill assigns the rest to the slow variants or to the others, up to their capacity, and returns what is left.
func (p Plan) fill(out []distribute.Part, counts []float64, rest float64, slow bool) float64 {
	for i := range p {
		v, part := &p[i], &out[p[i].Index]
		if v.Slow != slow {
			continue
		}
		more := math.Min(math.Max(rest, 0), math.Max(v.Most-part.Value, 0))
		rest -= more
		if part.Value += more; !slow {
			counts[i] += more
		}
	}
	return rest
}

// finish sets how much of a part is Starting, and adds one replica to a limited variant.
func (v *Planned) finish(part *distribute.Part, counts float64) {
	switch {
	case v.Limited && part.Value >= v.Most: // One more replica checks whether there is a node now.
		part.Limited, part.Value = true, math.Max(v.Floor, v.Most+v.Capacity)
	case part.Value < v.Most:
		part.Value = v.Band.Pass(part.Value)
	}
	if v.Slow || v.Limited {
		part.Starting = math.Max(part.Value-counts, 0)
	}
}
