package forecasts

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/atzero"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// readSlept takes the times at zero from a status, and says whether they are others.
func (r *resolution) readSlept(status *v1alpha1.ForecastStatus) bool {
	slept := sleptOf(status.AtZero, r.workload)
	if slept.Equal(r.target.AtZero) {
		return false
	}
	r.target.AtZero = slept
	return true
}

// sleptOf is the record that a status holds of a workload; an empty one where it holds none, or that of another workload,
// or one that cannot be.
func sleptOf(held *v1alpha1.AtZero, workload leadtime.Workload) atzero.Record {
	if held == nil || held.Of != workload.Ref() {
		return atzero.Record{}
	}
	record, err := atzero.Of(held.Changes)
	if err != nil {
		return atzero.Record{}
	}
	return record
}

// look adds to a status whether its object's workload stands at zero at a time. As with count, nothing is remembered here.
func (o *Objects) look(object *unstructured.Unstructured, status *v1alpha1.ForecastStatus, now time.Time) {
	workload, history := o.scaled(object)
	zero, known := o.pods.AtZero(workload)
	if !known || o.forgetful.Load() {
		return
	}
	record, changed := sleptOf(status.AtZero, workload).Look(zero, now)
	if !changed {
		return
	}
	// A state is rebuilt from its history before the last anchor, which is a refit interval ago at most.
	record = record.Since(now.Add(-history - longestRefit))
	status.AtZero = &v1alpha1.AtZero{Of: workload.Ref(), Changes: record.Changes()}
}

// scaled is the workload of an object and how long its history is; the zero value where the object is not valid.
func (o *Objects) scaled(object *unstructured.Unstructured) (leadtime.Workload, time.Duration) {
	r := o.at(keyOf(object))
	if !r.of(object) {
		return leadtime.Workload{}, 0
	}
	return r.workload, r.target.History
}

// longestRefit is longer than any refit interval.
const longestRefit = 7 * 24 * time.Hour
