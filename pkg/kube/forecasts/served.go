package forecasts

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// servedRecordOf returns the record of an entry for its status; while it has none, that of the previous status.
func servedRecordOf(e *snapshot.ForecastState, before *v1alpha1.ForecastStatus) *v1alpha1.ServedRecord {
	if e.Objective == nil || e.Objective.Record == nil {
		return before.ServedRecord
	}
	r := e.Objective.Record
	return &v1alpha1.ServedRecord{
		Through: metav1.Time{Time: r.Through}, Wait: r.Wait.String(),
		Capacity: strconv.FormatFloat(r.Capacity, 'g', -1, 64), Hours: r.Hours,
	}
}

// readServedRecord reads the record in a status, and reports whether it changed.
func (r *resolution) readServedRecord(status *v1alpha1.ForecastStatus) bool {
	held, last := status.ServedRecord, r.target.Record
	if held == nil {
		r.target.Record = nil
		return last != nil
	}
	if last != nil && last.Hours == held.Hours && last.Through.Equal(held.Through.Time) {
		return false
	}
	r.target.Record = recordFrom(held)
	return true
}

// recordFrom returns the record in a status; nil if it is invalid. Then the record begins again.
func recordFrom(held *v1alpha1.ServedRecord) *objective.Record {
	wait, waitErr := time.ParseDuration(held.Wait)
	capacity, capacityErr := strconv.ParseFloat(held.Capacity, 64)
	out := &objective.Record{
		Through: held.Through.UTC(), Wait: wait, Capacity: capacity, Hours: held.Hours,
	}
	if waitErr != nil || capacityErr != nil || out.Validate() != nil {
		return nil
	}
	return out
}
