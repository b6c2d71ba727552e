package manifest

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// Catalogue makes a signal into PromQL.
type Catalogue interface {
	// Render is a preset's query for a workload in a namespace. The error of an unknown preset names the near ones.
	Render(preset, namespace string, target v1alpha1.TargetRef) (Rendered, error)
	// Confine is a user's own query, parsed and held to what the namespace may read. The error says where it does not
	// parse, or what it must not ask for.
	Confine(query, namespace string) (Rendered, error)
}

// Rendered is a query ready to be run.
type Rendered struct {
	// Expr is PromQL that yields the total demand as one series.
	Expr string
	// Unit of the demand, "requests/s"; empty where unknown.
	Unit string
	// Rate says that the demand is a rate and not a gauge.
	Rate bool
	// Lookback is how long one bad sample may stand in the demand: the longest range of Expr.
	Lookback time.Duration
}

// Resolver turns objects into targets. It is safe for concurrent use where its catalogue is.
type Resolver struct {
	catalogue Catalogue
}

// NewResolver makes a Resolver whose signals come from the catalogue.
func NewResolver(catalogue Catalogue) *Resolver {
	return &Resolver{catalogue: catalogue}
}

// Resolve is ResolveIn for an object in a folder, where nothing is known of its workload.
func (r *Resolver) Resolve(object *v1alpha1.Forecast) (refresh.Target, field.ErrorList) {
	return r.ResolveIn(object, Folder())
}

// ResolveIn is the target of an object, with defaults for what it leaves out. Where the object has problems they are all
// in the list, and the target has only a key, a generation, a workload and the problems as text.
func (r *Resolver) ResolveIn(object *v1alpha1.Forecast, s Surroundings) (refresh.Target, field.ErrorList) {
	spec := defaulted(&object.Spec)
	read := reader{}
	target := refresh.Target{
		Key:        snapshot.Key{Namespace: object.Namespace, Name: object.Name},
		Generation: object.Generation,
		Workload:   spec.TargetRef.Kind + "/" + spec.TargetRef.Name,
	}
	bare := target
	read.Name(field.NewPath("metadata", "name"), object.Name, "name the Forecast; its metric carries the name")
	read.Namespace(object.Namespace)
	read.spec(spec, s.Starts, &target)
	read.scale(spec, workloadOf(object.Namespace, spec), s, &target)
	read.signal(r.catalogue, object.Namespace, spec, &target)
	if len(read.Problems) > 0 {
		bare.Invalid = Text(read.Problems)
		return bare, read.Problems
	}
	return target, nil
}

// spec reads all of a defaulted spec but its signal.
func (r *reader) spec(spec *v1alpha1.ForecastSpec, m Measured, target *refresh.Target) {
	path := field.NewPath("spec")
	ref := path.Child("targetRef")
	r.Kind(ref.Child("kind"), spec.TargetRef.Kind, "name the kind of the workload, for example Deployment")
	r.Name(ref.Child("name"), spec.TargetRef.Name, "name the workload whose demand this is")
	target.Step = r.step(path.Child("step"), spec.Step)
	target.Lead, target.LeadSource = r.leadTime(path.Child("leadTime"), spec.LeadTime, target.Step)
	target.History = r.history(path.Child("history"), spec.History, target)
	if spec.LeadTime.Mode == v1alpha1.LeadTimeAuto && len(r.Problems) == 0 {
		target.Lead, target.LeadSource = m.lead(target)
		target.LeadPool = m.Pool
	}
	target.Seasons = r.seasons(path.Child("seasons"), spec.Seasons, target)
	target.StaleAfter = r.staleAfter(path.Child("staleAfter"), spec.StaleAfter, target)
	target.Models = r.models(path.Child("models"), spec.Models)
	target.Policy = r.policy(path, spec)
	target.Policy.Lead = target.Lead
}
