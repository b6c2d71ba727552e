package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/variant"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// referencesOfFirst returns the references that scale the first variant, or the only workload. These are the references that select no
// variant, and those that select it by the name in targetRef. A reference that selects an unknown variant is rejected. References to the
// other variants are left out.
func referencesOfFirst(all []Reference, spec *v1alpha1.ForecastSpec) []Reference {
	out := make([]Reference, 0, len(all))
	for _, ref := range all {
		switch {
		case ref.Variant == "", ref.Variant == spec.TargetRef.Name && len(spec.Variants) > 0:
		case slices.ContainsFunc(spec.Variants, func(v v1alpha1.Variant) bool { return v.Name == ref.Variant }):
			continue
		case ref.Refused == "":
			ref.Refused = fmt.Sprintf("its selector has variant=%.64s, but the Forecast has no such variant",
				ref.Variant)
		}
		out = append(out, ref)
	}
	return out
}

// variants reads the variants, and replaces the autoscaler of the first variant by one that represents all of them. The texts say how each
// variant scales.
func (r *reader) variants(
	spec *v1alpha1.ForecastSpec, references []Reference, first *Choice, target *refresh.Job,
) (words []string) {
	target.Price = r.positive(field.NewPath("spec", "price"), spec.Price, "3.06")
	if len(spec.Variants) == 0 {
		return nil
	}
	path := field.NewPath("spec", "variants")
	if len(spec.Variants) >= variant.Most {
		r.Add(field.TooMany(path, len(spec.Variants), variant.Most-1))
		return nil
	}
	all := []variant.Variant{{Name: spec.TargetRef.Name, Lead: target.Lead, Price: target.Price}}
	workloads := []leadtime.Workload{workloadOf(target.Key.Namespace, spec)}
	for i := range spec.Variants {
		v := &spec.Variants[i]
		one := r.variant(path.Index(i), v, spec, target)
		if v.Name == spec.TargetRef.Name ||
			slices.ContainsFunc(spec.Variants[:i], func(o v1alpha1.Variant) bool { return o.Name == v.Name }) {
			r.Add(field.Duplicate(path.Index(i).Child("name"), v.Name))
		}
		choice := r.variantChoice(path.Index(i), v, references, target.Key.Namespace)
		first.Skipped = append(first.Skipped, choice.Skipped...)
		if len(choice.Autoscalers) == 0 {
			const none = "variant %.64s gets no share of the demand: no autoscaler selects it (with variant: %.64s " +
				"in the selector), and its field scaling is not set"
			words = append(words, fmt.Sprintf(none, v.Name, v.Name))
			continue
		}
		one.HPA = choice.Autoscalers[0].HPA
		one.ScalesToZero = sleeps(choice.Autoscalers[0].Name, references)
		if own := v.Scaling; own != nil && len(selecting(references, v.Name)) == 0 {
			one.ScalesToZero = own.MinReplicas != nil && *own.MinReplicas == 0
		}
		words = append(words, fmt.Sprintf("variant %.64s: %s", v.Name, choice.Used[0]))
		all, workloads = append(all, one), append(workloads, variantWorkload(target.Key.Namespace, v))
	}
	if len(first.Autoscalers) == 0 || len(all) == 1 || len(r.Problems) > 0 {
		return words
	}
	own := &first.Autoscalers[0]
	all[0].HPA, all[0].ScalesToZero = own.HPA, sleeps(own.Name, references)
	target.Variants, target.VariantWorkloads = all, workloads
	target.ReadWhole = readWhole(references)
	first.Autoscalers = []decide.Autoscaler{{Name: own.Name + " and variants", HPA: variant.Whole(all)}}
	return words
}

// variant reads one of the variants, except how it is scaled.
func (r *reader) variant(
	path *field.Path, v *v1alpha1.Variant, spec *v1alpha1.ForecastSpec, target *refresh.Job,
) variant.Variant {
	out := variant.Variant{Name: v.Name, Lead: target.Lead, Price: r.positive(path.Child("price"), v.Price, "3.06")}
	r.AddMessages(path.Child("name"), v.Name, validation.IsDNS1123Label(v.Name))
	if ref := v.TargetRef; ref != nil {
		r.Kind(path.Child("targetRef", "kind"), ref.Kind, "name the kind of the workload, for example Deployment")
		r.Name(path.Child("targetRef", "name"), ref.Name, "write the name of the workload that also serves the demand")
		if ref.Name == spec.TargetRef.Name && ref.Kind == spec.TargetRef.Kind {
			r.Invalid(path.Child("targetRef", "name"), ref.Name, "is the same workload as in spec.targetRef: write "+
				"the name of another workload")
		}
	}
	if (v.Price == "") != (spec.Price == "") {
		const all = "set a price for each variant and spec.price for targetRef, or set no price at all"
		r.Add(field.Required(path.Child("price"), all))
	}
	if v.LeadTime != "" {
		out.Lead = r.duration(path.Child("leadTime"), v.LeadTime, time.Second, MaxLead)
	}
	return out
}

// variantKinds checks that a preset finds the pods of all variants.
func (r *reader) variantKinds(spec *v1alpha1.ForecastSpec) {
	for i := range spec.Variants {
		if ref := spec.Variants[i].TargetRef; ref != nil && ref.Kind != spec.TargetRef.Kind {
			r.Invalid(field.NewPath("spec", "variants").Index(i).Child("targetRef", "kind"), ref.Kind,
				"a preset finds the pods of only one kind of workload: write %s, or use a query that returns the "+
					"demand of all variants", spec.TargetRef.Kind)
		}
	}
}

// variantChoice returns how a variant is scaled: by an autoscaler that selects it, or according to its scaling field.
func (r *reader) variantChoice(path *field.Path, v *v1alpha1.Variant, all []Reference, namespace string) Choice {
	var own decide.Autoscaler
	milli := int64(0)
	if v.Scaling != nil {
		at := path.Child("scaling")
		own = decide.Autoscaler{Name: at.String(), HPA: r.recommended(at, *v.Scaling)}
		milli = own.HPA.Metrics[0].Target
	}
	var choice Choice
	if v.TargetRef != nil {
		choice = ChooseAutoscalers(selecting(all, v.Name), variantWorkload(namespace, v), milli)
	}
	if len(choice.Autoscalers) == 0 && milli > 0 {
		choice.Autoscalers, choice.Used = []decide.Autoscaler{own}, []string{DescribeAutoscaler(own)}
	}
	return choice
}

// selecting returns the references that select a variant.
func selecting(references []Reference, name string) []Reference {
	return slices.DeleteFunc(slices.Clone(references), func(ref Reference) bool { return ref.Variant != name })
}

// variantWorkload returns a variant's workload, or the zero value if it is in another cluster.
func variantWorkload(namespace string, v *v1alpha1.Variant) leadtime.Workload {
	if v.TargetRef == nil {
		return leadtime.Workload{}
	}
	version := cmp.Or(v.TargetRef.APIVersion, DefaultAPIVersion)
	return leadtime.Workload{Namespace: namespace, APIVersion: version, Kind: v.TargetRef.Kind, Name: v.TargetRef.Name}
}

// sleeps reports whether an autoscaler may scale to zero.
func sleeps(name string, references []Reference) bool {
	return slices.ContainsFunc(references, func(r Reference) bool { return r.Autoscaler == name && r.ScalesToZero })
}

// readWhole returns the autoscalers that read the value for all variants.
func readWhole(references []Reference) []string {
	var out []string
	for i := range references {
		if references[i].Variant == "" && references[i].Refused == "" {
			out = append(out, references[i].Autoscaler)
		}
	}
	return slices.Compact(out)
}
