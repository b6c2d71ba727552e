package manifest

import (
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// Sources knows which sources of history namespaces may read.
type Sources interface {
	// Source returns the source with a name, or the namespace's default source if the name is empty. The error says which sources the
	// namespace may use.
	Source(name, namespace string) (Source, error)
	// Revision changes when Source may return another source.
	Revision() uint64
}

// Catalogue renders signals as PromQL for a source.
type Catalogue interface {
	Sources
	// Render returns a preset's query for the workload of a spec, including its former names, in a namespace and a source. Without a wait, the
	// query is for demand; with a wait above 0, it is for the share of requests that waited longer. If the preset is unknown, the error lists
	// others.
	Render(preset, namespace string, spec *v1alpha1.ForecastSpec, source Source, wait time.Duration) (Rendered, error)
	// Ready returns PromQL for the number of ready replicas of a workload and its variants; empty if this cannot be counted.
	Ready(namespace string, spec *v1alpha1.ForecastSpec, source Source) string
	// Confine parses a user's query and confines it to its namespace in a source. The error says where the syntax error is, or what the query
	// must not read.
	Confine(query, namespace string, source Source) (Rendered, error)
}

// Source is a source of history that a namespace may read.
type Source struct {
	refresh.SourceRef

	// TenantLabel names the namespace in the source; a namespace's own queries are confined by it.
	TenantLabel string
	// Cluster is the label and the value, "cluster=eu-1", of the series that count; empty where the source has one cluster.
	Cluster string
	// ScrapeInterval is the longest time between two scrapes of a model server; 0 where the source does not say.
	ScrapeInterval time.Duration
}

// OneSource is the Sources of one for all namespaces.
type OneSource struct{ TenantLabel, Cluster string }

// Source implements Sources.
func (o OneSource) Source(name, _ string) (Source, error) {
	if name != "" {
		return Source{}, errors.New("this Forewarm has only one source of history, and that source has no name: " +
			"remove the field, or ask the operator to configure named sources with --sources-file")
	}
	return Source{TenantLabel: o.TenantLabel, Cluster: o.Cluster}, nil
}

// Revision implements Sources.
func (OneSource) Revision() uint64 { return 0 }

// Rendered is a query ready to be run.
type Rendered struct {
	// Expr is PromQL that yields the total demand as one series.
	Expr string
	// Diagnosis finds out why Expr has no series; nil where nothing can.
	Diagnosis refresh.Diagnosis
	// SideQueries are what is asked about Expr: whether it is the demand, and of what.
	SideQueries refresh.SideQueries
	// Average says that Expr is an average and not a total.
	Average bool
	// Unit of the demand, "requests/s"; empty where unknown.
	Unit string
	// Rate says that the demand is a rate and not a gauge.
	Rate bool
	// Lookback is how long one bad sample can affect the demand: the longest range of Expr.
	Lookback time.Duration
}

// Resolver resolves objects into targets. It is safe for concurrent use if its catalogue is.
type Resolver struct{ catalogue Catalogue }

// NewResolver returns a Resolver that renders signals with a catalogue.
func NewResolver(catalogue Catalogue) *Resolver { return &Resolver{catalogue: catalogue} }

// Revision changes when objects may resolve to other targets though neither they nor the cluster have changed.
func (r *Resolver) Revision() uint64 { return r.catalogue.Revision() }

// Resolve is ResolveIn for an object in a folder, where there is no cluster.
func (r *Resolver) Resolve(object *v1alpha1.Forecast) (refresh.Job, field.ErrorList) {
	return r.ResolveIn(object, NoCluster())
}

// ResolveIn returns the target of an object, with defaults. If the object has problems, the list has all of them, and
// the target has only a key, a generation, a workload, a valid alias and the problems as text.
func (r *Resolver) ResolveIn(object *v1alpha1.Forecast, s ClusterState) (refresh.Job, field.ErrorList) {
	spec := withDefaults(&object.Spec)
	read := reader{}
	target := refresh.Job{
		Key:        snapshot.Key{Namespace: object.Namespace, Name: object.Name},
		Generation: object.Generation,
		Created:    object.CreationTimestamp.Time,
		Workload:   spec.TargetRef.Kind + "/" + spec.TargetRef.Name,
	}
	bare := target
	read.Name(field.NewPath("metadata", "name"), object.Name, "name the Forecast; its metric gets the same name")
	read.Namespace(object.Namespace)
	target.Alias = read.alias(field.NewPath("spec", "expose"), object)
	bare.Alias = target.Alias
	read.spec(spec, s.LeadTime, &target)
	target.Events, target.KeepServedPeaks = withNamespace(target.Events, s.Events), s.KeepServedPeaks
	read.autoscalers(spec, workloadOf(object.Namespace, spec), s, &target)
	read.signal(r.catalogue, object.Namespace, spec, &target)
	if len(read.Problems) > 0 {
		bare.Invalid = JoinProblems(read.Problems)
		return bare, read.Problems
	}
	target.Pause = pause(object, &target)
	return target, nil
}

// spec reads a spec with defaults, except its signal and its autoscalers.
func (r *reader) spec(spec *v1alpha1.ForecastSpec, m MeasuredLeadTime, target *refresh.Job) {
	path := field.NewPath("spec")
	ref := path.Child("targetRef")
	r.Kind(ref.Child("kind"), spec.TargetRef.Kind, "name the kind of the workload, for example Deployment")
	r.Name(ref.Child("name"), spec.TargetRef.Name, "write the name of the workload that serves the demand")
	if len(spec.FormerNames) > MaxFormerNames {
		r.Add(field.TooMany(path.Child("formerNames"), len(spec.FormerNames), MaxFormerNames))
		return
	}
	for i, name := range spec.FormerNames {
		r.Name(path.Child("formerNames").Index(i), name, "write a former name of the workload")
	}
	target.Step = r.step(path.Child("step"), spec.Step)
	target.Delay = r.delay(path.Child("signal", "delay"), spec.Signal.Delay, target.Step)
	target.Lead, target.LeadSource = r.leadTime(path.Child("leadTime"), spec.LeadTime, target.Step, target.Delay)
	target.History = r.history(path.Child("history"), spec.History, target)
	if spec.LeadTime.Mode == v1alpha1.LeadTimeAuto && len(r.Problems) == 0 {
		target.Lead, target.LeadSource = m.resolve(target)
		target.MedianLead = min(m.Median, target.Lead)
		target.LeadPool = m.Pool
	}
	target.Seasons = r.seasons(path.Child("seasons"), spec.Seasons, target)
	target.StaleAfter = r.staleAfter(path.Child("staleAfter"), spec.StaleAfter, target)
	target.Events = r.events(path.Child("events"), spec.Events)
	target.Models = r.models(path.Child("models"), spec.Models)
	target.Settings = r.policy(path, spec, target.History)
	target.Settings.Lead = target.Lead
}
