package forecasts

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// startsOf converts the record of a workload's starts for a status.
func startsOf(workload leadtime.Workload, r *leadtime.Record) *v1alpha1.Starts {
	return &v1alpha1.Starts{
		Workload:           workload.Ref(),
		LeadTime:           leadTimeOf(r.Lead),
		PlacedLeadTime:     leadTimeOf(r.PlacedLead),
		WaitedLeadTime:     leadTimeOf(r.WaitedLead),
		CountedThrough:     timeOf(r.Through),
		ReferenceTimestamp: timeOf(r.Period * halfLife),
		Placed:             histogramOf(&r.Placed),
		Held:               histogramOf(&r.Held),
		Waited:             histogramOf(&r.Waited),
	}
}

// halfLife is the half-life of the weights in seconds.
const halfLife = int64(leadtime.HalfLife / time.Second)

// recordIn returns the record in a status, or an error if the record is invalid.
func recordIn(held *v1alpha1.Starts) (leadtime.Record, error) {
	reference := secondsOf(held.ReferenceTimestamp)
	if reference%halfLife != 0 {
		return leadtime.Record{}, fmt.Errorf("reference timestamp %s, expected a multiple of %s since 1970: %w",
			held.ReferenceTimestamp.UTC(), leadtime.HalfLife, leadtime.ErrRecord)
	}
	r := leadtime.Record{
		Lead:       choiceIn(held.LeadTime),
		PlacedLead: choiceIn(held.PlacedLeadTime),
		WaitedLead: choiceIn(held.WaitedLeadTime),
		Through:    secondsOf(held.CountedThrough),
		Period:     reference / halfLife,
	}
	for _, p := range []struct {
		to   *leadtime.Population
		from v1alpha1.StartHistogram
	}{{&r.Placed, held.Placed}, {&r.Held, held.Held}, {&r.Waited, held.Waited}} {
		if err := readHistogram(p.to, p.from); err != nil {
			return leadtime.Record{}, err
		}
	}
	if err := r.Validate(); err != nil {
		return leadtime.Record{}, err
	}
	return r, nil
}

func leadTimeOf(c leadtime.InUse) v1alpha1.MeasuredLeadTime {
	return v1alpha1.MeasuredLeadTime{
		Seconds: c.Value, BeforeSeconds: c.Previous, MedianSeconds: c.Median, BeforeMedianSeconds: c.PreviousMedian,
		Since: timeOf(c.Since),
	}
}

func choiceIn(held v1alpha1.MeasuredLeadTime) leadtime.InUse {
	return leadtime.InUse{
		Value:          held.Seconds,
		Previous:       held.BeforeSeconds,
		Median:         held.MedianSeconds,
		PreviousMedian: held.BeforeMedianSeconds,
		Since:          secondsOf(held.Since),
	}
}

// timeOf converts Unix seconds; 0 is the zero time.
func timeOf(seconds int64) metav1.Time {
	if seconds == 0 {
		return metav1.Time{}
	}
	return metav1.Unix(seconds, 0)
}

func secondsOf(t metav1.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func histogramOf(p *leadtime.Population) v1alpha1.StartHistogram {
	out := v1alpha1.StartHistogram{Count: p.Count}
	for i, weight := range p.Histogram {
		if weight == 0 {
			continue
		}
		if out.BucketWeights == nil {
			out.BucketWeights = map[string]v1alpha1.BucketWeight{}
		}
		out.BucketWeights[strconv.Itoa(i)] = v1alpha1.BucketWeight(weight)
	}
	return out
}

// readHistogram reads a histogram. Each bucket number can be written in only one way, so no bucket occurs twice.
func readHistogram(p *leadtime.Population, held v1alpha1.StartHistogram) error {
	p.Count = held.Count
	for bucket, weight := range held.BucketWeights {
		i, err := strconv.Atoi(bucket)
		if err != nil || i < 0 || i >= len(p.Histogram) || strconv.Itoa(i) != bucket {
			return fmt.Errorf("bucket %.32q, expected a number from 0 to %d: %w", bucket, len(p.Histogram)-1,
				leadtime.ErrRecord)
		}
		p.Histogram[i] = int64(weight)
	}
	return nil
}

// readScaledToZero reads the times at zero from a status, and reports whether they changed.
func (r *resolution) readScaledToZero(status *v1alpha1.ForecastStatus) bool {
	before := r.target.ScaledToZero
	r.target.ScaledToZero = scaledToZeroOf(status.ScaledToZero, r.forecast)
	return !r.target.ScaledToZero.Equal(before)
}

// scaledToZeroOf returns the times at zero of a workload in a status. The record is empty if there is none, if it is invalid, or if it
// belongs to another workload.
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

// recordScaledToZero adds to a status whether the object's workload is scaled to zero. Like recordStarts, it keeps no state between calls.
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
	// A state is rebuilt from the history before the last anchor, which is at most one refit interval ago.
	record = record.DropBefore(now.Add(-r.target.History - maxRefitInterval))
	status.ScaledToZero = &v1alpha1.ScaledToZero{Workload: r.workload.Ref(), Changes: record.Changes()}
}

// scaledToZero reports whether an object's workload and each of its variants are scaled to zero; known is false while that is unknown. A
// variant in another cluster never counts as scaled to zero.
func (o *Objects) scaledToZero(r *resolution) (zero, known bool) {
	zero, known = o.pods.ScaledToZero(r.workload)
	for _, workload := range r.variants {
		other, knownToo := o.pods.ScaledToZero(workload)
		zero, known = zero && other, known && (knownToo || workload.Name == "")
	}
	return zero, known
}

// maxRefitInterval is an upper limit of all refit intervals.
const maxRefitInterval = 7 * 24 * time.Hour

// servedRecordOf returns the served record of an entry for the status. If the entry has none yet, it returns the record in the previous
// status.
func servedRecordOf(e *snapshot.ForecastSnapshot, before *v1alpha1.ForecastStatus) *v1alpha1.ServedRecord {
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

// recordFrom returns the record in a status, or nil if it is invalid. In that case a new record begins.
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
