package hpa

import (
	"errors"
	"fmt"
	"math"
)

// MaxValue is the first value whose thousandths overflow an int64. The HPA reads every metric in thousandths, so a larger value
// would become a wrong number, although the metrics API can carry it.
const MaxValue = math.MaxInt64 / 1000

// Milli returns a value in thousandths, rounded up, so that a metric never asks for less than the value. It reports false for a value
// that no metric can have: below 0, from MaxValue on, and NaN.
func Milli(value float64) (milli int64, ok bool) {
	if !(value >= 0 && value < MaxValue) {
		return 0, false
	}
	return int64(math.Ceil(value * 1000)), true
}

// errNoPods means that the target's selector matches no pod, so that a Value target has nothing to multiply.
var errNoPods = errors.New("no pods under the target's selector")

// Observed is what the controller reads at one sync.
type Observed struct {
	// Replicas is spec.replicas of the target's scale subresource: the replicas requested last.
	Replicas int32
	// Existing is status.replicas of the scale subresource: the replicas that exist, ready or not.
	Existing int32
	// Pods is the number of pods that the target's selector matches. Ready is the number of these pods that run and are ready. Only Value
	// targets use them.
	Pods, Ready int32
	// Readings, one for each metric of the Spec, in its order.
	Readings []Reading
}

// Reading is the metrics API's answer for one metric.
type Reading struct {
	// Values in milli-units: the items of an External metric, which are summed, or the one value of an Object metric.
	Values []int64
	// Err is why there is no answer.
	Err error
}

// Proposal is the number of replicas that one metric proposes.
type Proposal struct {
	// Replicas is meaningless with an error.
	Replicas int32
	// Total is the sum of the metric's values, in milli-units.
	Total int64
	// Ratio of the metric to its target. Within the tolerance around 1 nothing changes.
	Ratio float64
	// WithinTolerance is true if the ratio is within the tolerance, so that Replicas are the existing replicas.
	WithinTolerance bool
	Err             error
}

// Propose computes the proposal of one metric.
func (s *Spec) Propose(m *Metric, o *Observed, r Reading) Proposal {
	if r.Err != nil {
		return Proposal{Err: r.Err}
	}
	total, err := m.total(r.Values)
	if err != nil {
		return Proposal{Err: err}
	}
	return s.proposeTotal(m, o, total)
}

func (s *Spec) proposeTotal(m *Metric, o *Observed, total int64) Proposal {
	if m.Type == AverageValue {
		return s.proposeAverage(m, o, total)
	}
	return s.proposeValue(m, o, total)
}

// total sums the items of a metric. If the sum overflows, it returns the largest number.
func (m *Metric) total(values []int64) (int64, error) {
	if m.Source == Object {
		if len(values) != 1 {
			return 0, fmt.Errorf("object metric %s: %d values, expected 1", m.Name, len(values))
		}
		return values[0], nil
	}
	total := int64(0)
	for _, v := range values {
		if v > 0 && total > math.MaxInt64-v {
			return math.MaxInt64, nil
		}
		total += v
		if m.overflown(total) {
			return math.MaxInt64, nil
		}
	}
	return total, nil
}

// overflown reports whether the sum of an External metric counts as an overflow. With an AverageValue target, the controller treats every
// negative sum as an overflow. So an adapter that returns a negative number makes the HPA scale to its maximum.
func (m *Metric) overflown(sum int64) bool { return m.Type == AverageValue && sum < 0 }

// proposeAverage computes the proposal for an AverageValue target. For example, 10,500 requests and a target of 2,000 result in 6 replicas,
// whether 1 or 9 replicas are ready.
func (s *Spec) proposeAverage(m *Metric, o *Observed, total int64) Proposal {
	p := Proposal{Total: total}
	least, most := s.tolerated()
	p.Replicas, p.Ratio, p.WithinTolerance = m.average(o.Existing, total, least, most)
	return p
}

// average is proposeAverage with given bounds of the ratios that are within the tolerances.
func (m *Metric) average(
	existing int32, total int64, least, most float64,
) (replicas int32, ratio float64, within bool) {
	// Without replicas, the ratio is infinite, or NaN if the metric is also 0. Both are outside every tolerance.
	ratio = float64(total) / (float64(m.Target) * float64(existing))
	if least <= ratio && ratio <= most {
		return existing, ratio, true
	}
	return ceil(float64(total) / float64(m.Target)), ratio, false
}

// proposeValue computes the proposal for a Value target. For example, a queue of 30 and a target of 20 result in 3 replicas if 2 are ready.
func (s *Spec) proposeValue(m *Metric, o *Observed, total int64) Proposal {
	ratio := float64(total) / float64(m.Target)
	p := Proposal{Replicas: o.Replicas, Total: total, Ratio: ratio}
	switch {
	case o.Replicas == 0:
		p.Replicas = ceil(ratio)
	case s.withinTolerance(ratio):
		p.WithinTolerance = true
	case o.Pods == 0:
		p.Err = errNoPods
	default:
		p.Replicas = ceil(ratio * float64(o.Ready))
	}
	return p
}

// withinTolerance reports whether a ratio is too close to 1 for a change.
func (s *Spec) withinTolerance(ratio float64) bool {
	least, most := s.tolerated()
	return least <= ratio && ratio <= most
}

// tolerated returns the smallest and the largest ratio that are too close to 1 for a change.
func (s *Spec) tolerated() (least, most float64) {
	up, down := s.Tolerances()
	return 1 - down, 1 + up
}

// Tolerances returns the tolerance of each direction: from the behavior, or else from the cluster.
func (s *Spec) Tolerances() (up, down float64) {
	up, down = s.Cluster.Tolerance, s.Cluster.Tolerance
	if s.Behavior != nil && s.Behavior.Up.Tolerance != nil {
		up = *s.Behavior.Up.Tolerance
	}
	if s.Behavior != nil && s.Behavior.Down.Tolerance != nil {
		down = *s.Behavior.Down.Tolerance
	}
	return up, down
}

// ceil rounds up to a number of replicas. It saturates at the range of int32, beyond which the result of the controller's own conversion is
// undefined for Object metrics.
func ceil(x float64) int32 {
	switch x = math.Ceil(x); {
	case x >= math.MaxInt32:
		return math.MaxInt32
	case x <= math.MinInt32:
		return math.MinInt32
	default:
		return int32(x)
	}
}
