package forecasts

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/workloads"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// resolution is a target and what it was resolved from.
type resolution struct {
	uid        types.UID
	generation int64
	target     refresh.Target

	// workload is what a valid object scales; the zero value for the rest.
	workload leadtime.Workload

	// forecast is the valid object without its status, to be resolved again; nil for the rest. used is what the target was
	// resolved with.
	forecast *v1alpha1.Forecast
	used     manifest.Surroundings

	// measured: the lead time follows from the workload's starts. record is what the object's status says of them.
	measured bool
	record   leadtime.Record
}

// of says whether the object is the one that was resolved, with the same spec.
func (r *resolution) of(object *unstructured.Unstructured) bool {
	return r.uid == object.GetUID() && r.generation == object.GetGeneration()
}

// resolve makes the target of an object as far as the object alone goes.
func (o *Objects) resolve(key snapshot.Key, object *unstructured.Unstructured) *resolution {
	r := &resolution{uid: object.GetUID(), generation: object.GetGeneration()}
	forecast := &v1alpha1.Forecast{}
	err := manifest.CheckQuantities(object.Object)
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, forecast)
	}
	if err != nil {
		r.target = refresh.Target{
			Key: key, Generation: object.GetGeneration(),
			Invalid: "is not a Forecast of " + v1alpha1.GroupVersion().String() + ": " + err.Error(),
		}
		return r
	}
	r.used = o.autoscaled(key)
	r.target, _ = o.resolver.ResolveIn(forecast, r.used)
	if r.target.Invalid != "" {
		return r
	}
	r.workload, r.measured = manifest.Workload(forecast)
	// Its status and the record of who wrote which field are as large again, and are not needed to resolve it.
	forecast.ManagedFields, forecast.Status = nil, v1alpha1.ForecastStatus{}
	r.forecast = forecast
	r.read(object)
	return r
}

// read takes what is remembered of the workload from an object's status, and says whether the target is another.
func (r *resolution) read(object *unstructured.Unstructured) bool {
	if r.workload.Name == "" {
		return false
	}
	var status v1alpha1.ForecastStatus
	v1alpha1.ReadStatus(object, &status)
	if r.measured {
		r.record = recordOf(status.Starts, r.workload)
	}
	return r.readSlept(&status)
}

// recordOf is the record that a status holds of a workload; an empty one where it holds none, or that of another workload,
// or one that cannot be: then the measuring begins anew, and the next count replaces it.
func recordOf(held *v1alpha1.Starts, workload leadtime.Workload) leadtime.Record {
	if held == nil || held.Of != workload.Ref() {
		return leadtime.Record{}
	}
	record, err := recordIn(held)
	if err != nil {
		return leadtime.Record{}
	}
	return record
}

// renew resolves the target anew where its surroundings are others at a time, and says whether they are.
func (o *Objects) renew(r *resolution, now time.Time) bool {
	if r.forecast == nil {
		return false
	}
	surroundings := o.autoscaled(r.target.Key)
	if r.measured {
		surroundings.Starts = o.says(r.target.Key, r.workload, &r.record, now)
	}
	if surroundings.Same(r.used) {
		return false
	}
	r.used = surroundings
	slept := r.target.AtZero
	r.target, _ = o.resolver.ResolveIn(r.forecast, surroundings)
	r.target.AtZero = slept
	return true
}

// autoscaled is what the watch says of the autoscalers that refer to a Forecast.
func (o *Objects) autoscaled(key snapshot.Key) manifest.Surroundings {
	return manifest.Surroundings{Autoscalers: o.autoscalers.To(key), Unread: o.autoscalers.Problem()}
}

// says is what a record and the watch say of the workload of a Forecast at a time.
func (o *Objects) says(
	key snapshot.Key, workload leadtime.Workload, record *leadtime.Record, now time.Time,
) manifest.Measured {
	problem := o.pods.Problem(workload)
	if o.forgetful.Load() {
		problem = "the cluster does not keep what is measured: apply deploy/crds and restart forewarm"
	}
	measured := manifest.Measured{Lead: record.At(now), Words: wordsOf(record, now)}
	if by := o.coverOf(key); by.pool != "" {
		measured = by.shorten(measured, record, now)
	}
	switch {
	case problem == "", problem == workloads.Listing:
		// Listing passes, and is not worth two writes of each status when a replica starts.
	case record.Starts() == 0:
		measured.Words = problem
	default:
		measured.Words += "; " + problem
	}
	return measured
}

// wordsOf say what was measured.
func wordsOf(record *leadtime.Record, now time.Time) string {
	words := record.String()
	if since := record.Since(); now.Before(since) {
		words += " " + announced(record.At(since), since, "")
	}
	return words
}

// announced says which lead time is in use from when on, and why if that must be said.
func announced(lead time.Duration, since time.Time, why string) string {
	return fmt.Sprintf("(%s is in use from %s on%s)", lead, since.UTC().Format("15:04:05 UTC"), why)
}

// workloads are those whose pods are to be watched: for their starts, and for whether there are any.
func (o *Objects) workloads() []leadtime.Workload {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []leadtime.Workload
	for _, r := range o.resolved {
		if r.workload.Name != "" {
			out = append(out, r.workload)
		}
	}
	return out
}

// count adds to a status what its object's workload has started newly at a time, and says so in its words, so that both
// are written at once. Nothing is remembered here between two calls: a count that was not written is made again, and a
// leader that takes over goes on from what is written.
func (o *Objects) count(object *unstructured.Unstructured, status *v1alpha1.ForecastStatus, now time.Time) {
	forecast, workload := o.measured(object)
	if forecast == nil || o.forgetful.Load() {
		return
	}
	seen := o.pods.Starts(workload)
	if len(seen) == 0 {
		return
	}
	record := recordOf(status.Starts, workload)
	if !record.Fold(o.coverOf(keyOf(object)).mark(seen), now) {
		return
	}
	status.Starts = startsOf(workload, &record)
	target, _ := o.resolver.ResolveIn(forecast, manifest.Surroundings{
		Starts: o.says(keyOf(object), workload, &record, now),
	})
	status.LeadTimeSource = v1alpha1.Clip(target.LeadSource)
}

// measured is an object whose starts are counted, and its workload; nil for others.
func (o *Objects) measured(object *unstructured.Unstructured) (*v1alpha1.Forecast, leadtime.Workload) {
	r := o.at(keyOf(object))
	if !r.of(object) || !r.measured {
		return nil, leadtime.Workload{}
	}
	return r.forecast, r.workload
}
