package forecasts

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// readScaledToZero reads the times at zero from a status, and reports whether they changed.
func (r *resolution) readScaledToZero(status *v1alpha1.ForecastStatus) bool {
	slept := scaledToZeroOf(status.ScaledToZero, r.forecast)
	if slept.Equal(r.target.ScaledToZero) {
		return false
	}
	r.target.ScaledToZero = slept
	return true
}

// scaledToZeroOf returns the times at zero of a workload in a status; an empty record if there is none, or it is
// invalid or that of another workload.
func scaledToZeroOf(held *v1alpha1.ScaledToZero, forecast *v1alpha1.Forecast) demand.ZeroPeriods {
	if held == nil || !manifest.IsWorkload(forecast, held.Workload) {
		return demand.ZeroPeriods{}
	}
	record, err := demand.NewZeroPeriods(held.Changes)
	if err != nil {
		return demand.ZeroPeriods{}
	}
	return record
}

// recordScaledToZero adds to a status whether its object's workload is scaled to zero. Like recordStarts, it keeps no
// state.
func (o *Objects) recordScaledToZero(
	object *unstructured.Unstructured, status *v1alpha1.ForecastStatus, now time.Time,
) {
	r := o.resolutionOf(keyOf(object))
	if !r.matches(object) || r.forecast == nil || o.fieldsDropped.Load() {
		return
	}
	before := scaledToZeroOf(status.ScaledToZero, r.forecast)
	record, changed := before.Bounded(now)
	if zero, known := o.scaledToZero(&r); known {
		record, changed = before.Observe(zero, now)
	}
	if !changed {
		return
	}
	// A state is rebuilt from its history before the last anchor, which is a refit interval ago at most.
	record = record.DropBefore(now.Add(-r.target.History - maxRefitInterval))
	status.ScaledToZero = &v1alpha1.ScaledToZero{Workload: r.workload.Ref(), Changes: record.Changes()}
}

// scaledToZero reports whether an object's workload, and each of its variants, is scaled to zero; known is false while that is unknown. A
// variant in another cluster never is.
func (o *Objects) scaledToZero(r *resolution) (zero, known bool) {
	zero, known = o.pods.ScaledToZero(r.workload)
	for _, workload := range r.variants {
		other, knownToo := o.pods.ScaledToZero(workload)
		zero, known = zero && other, known && (knownToo || workload.Name == "")
	}
	return zero, known
}

// maxRefitInterval is longer than any refit interval.
const maxRefitInterval = 7 * 24 * time.Hour
