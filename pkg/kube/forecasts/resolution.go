package forecasts

import (
	"fmt"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/informer"
	"github.com/forewarm/forewarm/pkg/kube/workloads"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// resolution is a job and the inputs from which it was resolved.
type resolution struct {
	uid        types.UID
	generation int64
	// stub is true if the object exceeds the limit of its namespace, see informer.Bound.
	stub bool
	// pause is the value of the annotation that pauses the object, and annotated is true if the annotation exists.
	pause     string
	annotated bool
	target    refresh.Job

	// created is the creation time of the object. accepted is true if its status says that this generation is within the limits.
	created  time.Time
	accepted bool

	// workload is the workload of a valid object, or the zero value. variants are the workloads of its variants.
	workload leadtime.Workload
	variants []leadtime.Workload

	// forecast is the object without its status, kept so that it can be resolved again; nil if it is invalid. state is the state of the
	// cluster that was used to resolve it.
	forecast *v1alpha1.Forecast
	state    manifest.ClusterState

	// measured is true if the lead time is measured from the workload's starts. record is the record in the object's status.
	measured bool
	record   leadtime.Record
}

// matches reports whether an object is the one that was resolved, with the same spec and the same pause.
func (r *resolution) matches(object *unstructured.Unstructured) bool {
	pause, annotated := object.GetAnnotations()[v1alpha1.PauseAnnotation]
	return r.uid == object.GetUID() && r.generation == object.GetGeneration() && r.stub == informer.IsStub(object) &&
		r.pause == pause && r.annotated == annotated
}

// resolve resolves an object to a job.
func (o *Objects) resolve(key snapshot.Key, object *unstructured.Unstructured) *resolution {
	r := &resolution{
		uid: object.GetUID(), generation: object.GetGeneration(), created: object.GetCreationTimestamp().Time,
		stub: informer.IsStub(object),
	}
	r.pause, r.annotated = object.GetAnnotations()[v1alpha1.PauseAnnotation]
	forecast, problem := o.decode(object)
	if problem != "" {
		r.target = refresh.Job{Key: key, Generation: object.GetGeneration(), Invalid: problem}
		return r
	}
	r.state = o.clusterState(key, nil) // refresh resolves aliases when this object is in the map.
	r.target, _ = o.resolver.ResolveIn(forecast, r.state)
	if r.target.Invalid != "" {
		return r
	}
	r.workload, r.measured = manifest.Workload(forecast)
	r.variants = manifest.VariantWorkloads(forecast)
	// The status and the managed fields are large, and are not needed to resolve the object again.
	forecast.ManagedFields, forecast.Status = nil, v1alpha1.ForecastStatus{}
	r.forecast = forecast
	r.readStatus(object)
	return r
}

// decode decodes an object, or says why it cannot be decoded.
func (o *Objects) decode(object *unstructured.Unstructured) (forecast *v1alpha1.Forecast, problem string) {
	if informer.IsStub(object) {
		return nil, o.limits.problem(share{forecasts: o.limits.Forecasts + 1})
	}
	if problem := informer.SpecProblem(object); problem != "" {
		return nil, problem
	}
	forecast = &v1alpha1.Forecast{}
	err := manifest.CheckQuantities(object.Object)
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, forecast)
	}
	if err != nil {
		return nil, "is not a Forecast of " + v1alpha1.GroupVersion().String() + ": " + err.Error()
	}
	return forecast, ""
}

// readStatus reads from an object's status the workload's starts, its times at zero, and the served record. It reports whether the job
// changed.
func (r *resolution) readStatus(object *unstructured.Unstructured) bool {
	var status v1alpha1.ForecastStatus
	v1alpha1.ReadStatus(object, &status)
	recorded := r.readServedRecord(&status)
	if r.workload.Name == "" {
		return recorded
	}
	r.accepted = acceptedBy(status.ObservedGeneration, status.State, r.generation)
	if r.measured {
		r.record = recordOf(status.Starts, r.forecast)
	}
	return r.readScaledToZero(&status) || recorded
}

// recordOf returns the record of a Forecast's workload in a status. It is empty if there is no record, or if the record is invalid or
// belongs to another workload. In that case, the measurement starts from scratch.
func recordOf(held *v1alpha1.Starts, forecast *v1alpha1.Forecast) leadtime.Record {
	if held == nil || !manifest.IsWorkload(forecast, held.Workload) {
		return leadtime.Record{}
	}
	record, err := recordIn(held)
	if err != nil {
		return leadtime.Record{}
	}
	return record
}

// refresh resolves the job again if the state of the cluster changed, and reports whether the job changed.
func (o *Objects) refresh(r *resolution, now time.Time) bool {
	if r.forecast == nil {
		return false
	}
	surroundings := o.clusterState(r.target.Key, r.target.Alias)
	if r.measured {
		surroundings.LeadTime = o.measuredLeadTime(r.target.Key, r.workload, &r.record, now)
	}
	changed := !surroundings.Equal(r.state)
	if changed {
		r.state = surroundings
		slept, record := r.target.ScaledToZero, r.target.Record
		r.target, _ = o.resolver.ResolveIn(r.forecast, surroundings)
		r.target.ScaledToZero, r.target.Record = slept, record
	}
	limits := o.variantLimits(&r.target, now)
	starting := r.target.ScalesToZero &&
		o.pods.Starting(r.workload, now.Add(-manifest.MaxLead), now.Add(-leadtime.Window(r.target.Lead)))
	changed = changed || !slices.Equal(limits, r.target.VariantLimits) || starting != r.target.Starting
	r.target.VariantLimits, r.target.Starting = limits, starting
	return changed
}

// variantLimits returns the highest demand that each variant can serve for now. A variant is limited if some of its replicas have had no
// node for longer than its lead time. Then the limit is the capacity of its replicas on nodes. The result is nil if no variant is limited.
func (o *Objects) variantLimits(target *refresh.Job, now time.Time) []float64 {
	var out []float64
	for i := range target.Variants {
		v, workload := &target.Variants[i], target.VariantWorkloads[i]
		if workload.Name == "" || o.pods.UnplacedSince(workload, now.Add(-v.Lead)) == 0 {
			continue
		}
		replicas, known := o.pods.Replicas(workload)
		if !known {
			continue
		}
		if out == nil {
			out = slices.Repeat([]float64{math.Inf(1)}, len(target.Variants))
		}
		out[i] = float64(replicas.Placed) * v.Capacity()
	}
	return out
}

// clusterState returns the autoscalers that refer to a Forecast and its alias. alias is nil if the Forecast has none.
func (o *Objects) clusterState(key snapshot.Key, alias *snapshot.Alias) manifest.ClusterState {
	s := manifest.ClusterState{Autoscalers: o.autoscalers.References(key), UnreadReason: o.autoscalers.Problem()}
	if o.events != nil {
		s.Events = o.events.Of(key)
	}
	s.KeepServedPeaks = o.fleets != nil && o.fleets.HasMember(key)
	if alias == nil {
		return s
	}
	if at := alias.Key(key.Namespace); o.aliasHolders()[at] == key {
		s.Exposed = o.autoscalers.References(at)
	}
	return s
}

// aliasHolders returns the Forecast that answers for each alias.
func (o *Objects) aliasHolders() map[snapshot.Key]snapshot.Key {
	if o.holders == nil {
		aliases := make(map[snapshot.Key]*snapshot.Alias, len(o.resolved))
		for key, r := range o.resolved {
			aliases[key] = r.target.Alias
		}
		o.holders = snapshot.Holders(aliases)
	}
	return o.holders
}

// measuredLeadTime returns the lead time of a Forecast's workload according to a record, including problems of the watch.
func (o *Objects) measuredLeadTime(
	key snapshot.Key, workload leadtime.Workload, record *leadtime.Record, now time.Time,
) manifest.MeasuredLeadTime {
	problem := o.pods.Problem(workload)
	if o.fieldsDropped.Load() {
		problem = "the CRD is older than Forewarm and cannot store the measurements: " +
			"apply deploy/default or upgrade the chart, and restart Forewarm"
	}
	measured := manifest.MeasuredLeadTime{
		Lead: record.LeadTime(now), Median: record.MedianLeadTime(now), Source: record.String(),
	}
	if since := time.Unix(record.Lead.Since, 0); now.Before(since) {
		measured.Source += " " + announcement(record.LeadTime(since), since, "")
	}
	if by := o.coverOf(key); by.pool != "" {
		measured = by.shortenLeadTime(measured, record, now)
	}
	switch {
	case problem == "", problem == workloads.Listing:
		// Listing takes only a short time, so it does not justify two writes of each status when a replica starts.
	case record.Starts() == 0:
		measured.Source = problem
	default:
		measured.Source += "; " + problem
	}
	return measured
}

// announcement says which lead time applies from when, and why.
func announcement(lead time.Duration, since time.Time, why string) string {
	return fmt.Sprintf("(changes to %s at %s%s)", lead, since.UTC().Format("15:04:05 UTC"), why)
}

// workloads returns the workloads whose pods are watched.
func (o *Objects) workloads() []leadtime.Workload {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []leadtime.Workload
	for _, r := range o.resolved {
		if r.workload.Name != "" {
			out = append(out, r.workload)
		}
		for _, workload := range r.variants {
			if workload.Name != "" {
				out = append(out, workload)
			}
		}
	}
	return out
}

// recordStarts adds the new starts of an object's workload to its status, and updates leadTimeSource in the same
// write. It keeps no state between calls: starts that were not written are counted again, and a new leader continues
// from the status.
func (o *Objects) recordStarts(object *unstructured.Unstructured, status *v1alpha1.ForecastStatus, now time.Time) {
	r := o.resolutionOf(keyOf(object))
	if !r.matches(object) || !r.measured || o.fieldsDropped.Load() {
		return
	}
	seen := o.pods.Starts(r.workload)
	if len(seen) == 0 {
		return
	}
	record := recordOf(status.Starts, r.forecast)
	if !record.AddStarts(o.coverOf(keyOf(object)).markHeld(seen), now) {
		return
	}
	status.Starts = startsOf(r.workload, &record)
	target, _ := o.resolver.ResolveIn(r.forecast, manifest.ClusterState{
		LeadTime: o.measuredLeadTime(keyOf(object), r.workload, &record, now),
	})
	status.LeadTimeSource = v1alpha1.Clip(target.LeadSource)
}
