package autoscaler

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// Choice are the autoscalers that a Forecast's objective is calibrated for.
type Choice struct {
	// Scalings are distinct, at most decide.MaxScalings, in the order of their names.
	Scalings []decide.Scaling
	// Used says in words how each of them scales, and which others do alike; Passed which are not used, and why.
	Used, Passed []string
}

// Choose takes those references to a Forecast that scale its workload. Where an autoscaler does not say what a replica
// sustains, what the others say holds, or else the Forecast's own target (milli-units, 0 where it has none either): that is
// what forewarm answers KEDA.
func Choose(references []Reference, of leadtime.Workload, own int64) Choice {
	var c Choice
	counted := c.countable(references, of)
	counted = c.complete(counted, own)
	// Of several metrics of one autoscaler the largest proposal wins: that of the smallest target.
	counted = slices.CompactFunc(counted, func(a, b Reference) bool { return a.By == b.By })
	for i := range counted {
		c.take(&counted[i])
	}
	return c
}

// countable are the references that are not refused and scale the workload.
func (c *Choice) countable(references []Reference, of leadtime.Workload) []Reference {
	sorted := slices.SortedStableFunc(slices.Values(references), order)
	return slices.DeleteFunc(sorted, func(r Reference) bool {
		reason := r.Refused
		if scales := r.Scales.Ref(); reason == "" && scales != of.Ref() {
			reason = fmt.Sprintf("it scales %s, not %s", scales, of.Ref())
		}
		if reason != "" {
			c.Passed = append(c.Passed, r.By+" is not used: "+reason)
		}
		return reason != ""
	})
}

// order is by name, and for the metrics of one autoscaler by target.
func order(a, b Reference) int {
	return cmp.Or(cmp.Compare(a.By, b.By), cmp.Compare(targetOf(&a), targetOf(&b)))
}

// complete fills in the targets that are left to the Forecast to say, and keeps what then is a Spec.
func (c *Choice) complete(references []Reference, own int64) []Reference {
	if i := slices.IndexFunc(references, func(r Reference) bool { return targetOf(&r) > 0 }); i >= 0 {
		own = targetOf(&references[i])
	}
	var out []Reference
	for _, r := range references {
		if targetOf(&r) == 0 {
			r.Spec.Metrics = slices.Clone(r.Spec.Metrics)
			r.Spec.Metrics[0].Target = own
		}
		if targetOf(&r) == 0 {
			c.Passed = append(c.Passed, r.By+" is not used: nothing says what one replica sustains: set target in its "+
				"trigger's metadata, or spec.scaling.target")
			continue
		}
		if err := r.Spec.Validate(); err != nil {
			c.Passed = append(c.Passed, fmt.Sprintf("%s is not used: %.256s", r.By, err))
			continue
		}
		awake(&r.Spec)
		out = append(out, r)
	}
	slices.SortStableFunc(out, order)
	return out
}

// targetOf is 0 where the Forecast is to say it, and of what is refused.
func targetOf(r *Reference) int64 {
	if len(r.Spec.Metrics) == 0 {
		return 0
	}
	return r.Spec.Metrics[0].Target
}

// awake keeps a replica at least, see the package's comment. Nor would a shadow that begins at zero ever wake: the
// controller leaves alone what it did not put to sleep itself.
func awake(s *hpa.Spec) {
	s.Min = max(s.Min, 1)
	s.Cluster.ScaleToZero = false
}

// take adds an autoscaler, or says that it scales as another one does, or that there are enough.
func (c *Choice) take(r *Reference) {
	alike := slices.IndexFunc(c.Scalings, func(s decide.Scaling) bool {
		return s.Candidate == r.Candidate && reflect.DeepEqual(s.HPA, r.Spec)
	})
	switch {
	case alike >= 0:
		c.Used[alike] += ", and " + r.By
	case len(c.Scalings) == decide.MaxScalings:
		c.Passed = append(c.Passed, fmt.Sprintf(
			"%s is not used: it scales otherwise than the first %d, and no more than that many count",
			r.By, decide.MaxScalings))
	default:
		s := decide.Scaling{By: r.By, HPA: r.Spec, Candidate: r.Candidate}
		c.Scalings = append(c.Scalings, s)
		c.Used = append(c.Used, Describe(s))
	}
}

// Describe says how an autoscaler scales: "HorizontalPodAutoscaler/llama: 64 a replica, 1 to 20 replicas".
func Describe(s decide.Scaling) string {
	text := fmt.Sprintf("%s: %s a replica, %d to %d replicas", s.By, strconv.FormatFloat(s.Target(), 'f', -1, 64),
		s.HPA.Min, s.HPA.Max)
	if s.Candidate != "" {
		text += ", by model " + s.Candidate
	}
	return text
}
