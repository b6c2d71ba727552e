package forecasts

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// startsOf returns the record of a workload's starts for a status.
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

// halfLife of the weights, in seconds.
const halfLife = int64(leadtime.HalfLife / time.Second)

// recordIn returns the record in a status, or why it is invalid.
func recordIn(held *v1alpha1.Starts) (leadtime.Record, error) {
	reference := secondsOf(held.ReferenceTimestamp)
	if reference%halfLife != 0 {
		return leadtime.Record{}, fmt.Errorf("reference timestamp %s, want a multiple of %s since 1970: %w",
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

// readHistogram reads a histogram. Bucket numbers have one spelling only, so that none occurs twice.
func readHistogram(p *leadtime.Population, held v1alpha1.StartHistogram) error {
	p.Count = held.Count
	for bucket, weight := range held.BucketWeights {
		i, err := strconv.Atoi(bucket)
		if err != nil || i < 0 || i >= len(p.Histogram) || strconv.Itoa(i) != bucket {
			return fmt.Errorf("bucket %.32q, want a number from 0 to %d: %w", bucket, len(p.Histogram)-1,
				leadtime.ErrRecord)
		}
		p.Histogram[i] = int64(weight)
	}
	return nil
}
