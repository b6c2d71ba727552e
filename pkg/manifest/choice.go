package manifest

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// Reference is one metric of an autoscaler that names a Forecast. It keeps no part of the object that it was read from.
type Reference struct {
	// Forecast that is named, in the autoscaler's namespace.
	Forecast snapshot.Key
	// Alias that an External metric asks for; zero for others, and where its selector is none of single values. Labelled is the
	// reference where a Forecast has that alias; nil where the alias has no labels, and the reference is the same.
	Alias    snapshot.Key
	Labelled *Reference
	// Autoscaler is "HorizontalPodAutoscaler/llama" or "ScaledObject/llama".
	Autoscaler string
	// Workload that it scales.
	Workload leadtime.Workload
	// Spec is how it scales on this metric. A target of 0 is left to the Forecast, as KEDA's triggers may do.
	Spec hpa.Spec
	// Candidate is the model that the metric selects, by its canonical name, also where it is refused; empty for the Forecast's
	// selected candidate.
	Candidate string
	// Variant is the name of the variant whose part the metric selects; empty for the whole value.
	Variant string
	// ScalesToZero: the autoscaler may scale to zero.
	ScalesToZero bool
	// DisabledAtZero: the autoscaler may scale to zero, but reads no metrics now, because something else scaled the workload to zero.
	DisabledAtZero bool
	// Refused is why the metric is not used, and what to write instead; empty where it is used.
	Refused string
}

// IsScaledObject reports whether the autoscaler is one of KEDA's.
func (r *Reference) IsScaledObject() bool { return strings.HasPrefix(r.Autoscaler, "ScaledObject/") }

// As is the reference by a name, that of its Forecast or the alias that a Forecast has; ok is false where it is neither.
func (r *Reference) As(name snapshot.Key) (out Reference, ok bool) {
	out = *r
	if r.Forecast == name {
		return out, true
	}
	if r.Labelled != nil {
		out = *r.Labelled
	}
	out.Forecast, out.Alias, out.Labelled = r.Alias, r.Alias, nil
	return out, name.Name != "" && r.Alias == name
}

// Choice are the autoscalers that a Forecast's objective is calibrated for.
type Choice struct {
	// Autoscalers are distinct, at most decide.MaxAutoscalers, in the order of their names.
	Autoscalers []decide.Autoscaler
	// Used describes how each scales, and which others scale alike. Skipped lists those that are not used, and why.
	Used, Skipped []string
}

// ChooseAutoscalers selects the references to a Forecast that scale its workload. An autoscaler without a target gets
// that of the others, or else the Forecast's own (in thousandths, 0 for none), with which Forewarm answers KEDA, too.
func ChooseAutoscalers(references []Reference, of leadtime.Workload, own int64) Choice {
	var c Choice
	counted := c.complete(c.usable(references, of), own)
	// If an autoscaler has several metrics, the largest proposal wins. That is the proposal for the smallest target.
	counted = slices.CompactFunc(counted, func(a, b Reference) bool { return a.Autoscaler == b.Autoscaler })
	for i := range counted {
		c.add(&counted[i])
	}
	return c
}

// usable returns the references that are not rejected and scale the workload.
func (c *Choice) usable(references []Reference, of leadtime.Workload) []Reference {
	sorted := slices.SortedStableFunc(slices.Values(references), compareReferences)
	return slices.DeleteFunc(sorted, func(r Reference) bool {
		reason := r.Refused
		if scales := r.Workload.Ref(); reason == "" && scales != of.Ref() {
			reason = fmt.Sprintf("it scales %s, not %s", scales, of.Ref())
		}
		if reason != "" {
			c.Skipped = append(c.Skipped, r.Autoscaler+" is not used: "+reason)
		}
		return reason != ""
	})
}

// compareReferences orders references by name, and the metrics of one autoscaler by target.
func compareReferences(a, b Reference) int {
	return cmp.Or(cmp.Compare(a.Autoscaler, b.Autoscaler), cmp.Compare(targetOf(&a), targetOf(&b)))
}

// complete sets targets that are missing to the Forecast's target, and keeps the references whose Spec is valid.
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
			c.Skipped = append(c.Skipped, r.Autoscaler+" is not used: nothing says what one replica sustains: "+
				"set target in its trigger's metadata, or spec.scaling.target")
			continue
		}
		if err := r.Spec.Validate(); err != nil {
			c.Skipped = append(c.Skipped, fmt.Sprintf("%s is not used: %.256s", r.Autoscaler, err))
			continue
		}
		// The minimum is one replica, see package autoscaler. A simulated autoscaler that begins at zero would never scale up, because the
		// controller does not scale a workload that something else scaled to zero.
		r.Spec.Min, r.Spec.Cluster.ScaleToZero = max(r.Spec.Min, 1), false
		out = append(out, r)
	}
	slices.SortStableFunc(out, compareReferences)
	return out
}

// targetOf returns the target, or 0 if the Forecast's target applies or the reference is rejected.
func targetOf(r *Reference) int64 {
	if len(r.Spec.Metrics) == 0 {
		return 0
	}
	return r.Spec.Metrics[0].Target
}

// add adds an autoscaler, unless it scales in the same way as another one, or there are enough.
func (c *Choice) add(r *Reference) {
	alike := slices.IndexFunc(c.Autoscalers, func(s decide.Autoscaler) bool {
		return s.Candidate == r.Candidate && reflect.DeepEqual(s.HPA, r.Spec)
	})
	switch {
	case alike >= 0:
		c.Used[alike] += ", and " + r.Autoscaler
	case len(c.Autoscalers) == decide.MaxAutoscalers:
		const enough = "%s is not used: its settings differ from those of the first %d autoscalers, and Forewarm " +
			"uses at most that many"
		c.Skipped = append(c.Skipped, fmt.Sprintf(enough, r.Autoscaler, decide.MaxAutoscalers))
	default:
		s := decide.Autoscaler{Name: r.Autoscaler, HPA: r.Spec, Candidate: r.Candidate}
		c.Autoscalers = append(c.Autoscalers, s)
		c.Used = append(c.Used, DescribeAutoscaler(s))
	}
}

// DescribeAutoscaler returns how an autoscaler scales: "HorizontalPodAutoscaler/llama: 64 a replica, 1 to 20 replicas".
func DescribeAutoscaler(s decide.Autoscaler) string {
	text := fmt.Sprintf("%s: %s a replica, %d to %d replicas", s.Name, strconv.FormatFloat(s.Target(), 'f', -1, 64),
		s.HPA.Min, s.HPA.Max)
	if s.Candidate != "" {
		text += ", with the forecast of model " + s.Candidate
	}
	return text
}
