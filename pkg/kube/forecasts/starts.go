package forecasts

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// startsOf is the record of a workload's starts as a status holds it.
func startsOf(workload leadtime.Workload, r *leadtime.Record) *v1alpha1.Starts {
	return &v1alpha1.Starts{
		Of:                 workload.Ref(),
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

// halfLife is that of the weights, in seconds.
const halfLife = int64(leadtime.HalfLife / time.Second)

// recordIn is the record that a status holds. The error says what cannot be that of any starts.
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
		if err := populate(p.to, p.from); err != nil {
			return leadtime.Record{}, err
		}
	}
	if err := r.Check(); err != nil {
		return leadtime.Record{}, err
	}
	return r, nil
}

func leadTimeOf(c leadtime.Choice) v1alpha1.MeasuredLeadTime {
	return v1alpha1.MeasuredLeadTime{Seconds: c.Value, BeforeSeconds: c.Before, Since: timeOf(c.Since)}
}

func choiceIn(held v1alpha1.MeasuredLeadTime) leadtime.Choice {
	return leadtime.Choice{Value: held.Seconds, Before: held.BeforeSeconds, Since: secondsOf(held.Since)}
}

// timeOf is a time in seconds since the epoch; 0 is none.
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

// populate counts what a histogram holds. A bucket is written in one way alone, so that none is there twice.
func populate(p *leadtime.Population, held v1alpha1.StartHistogram) error {
	p.Count = held.Count
	for bucket, weight := range held.BucketWeights {
		i, err := strconv.Atoi(bucket)
		if err != nil || i < 0 || i >= leadtime.Buckets || strconv.Itoa(i) != bucket {
			return fmt.Errorf(
				"bucket %.32q, want a number from 0 to %d: %w",
				bucket,
				leadtime.Buckets-1,
				leadtime.ErrRecord,
			)
		}
		p.Histogram[i] = int64(weight)
	}
	return nil
}
