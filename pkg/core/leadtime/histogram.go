package leadtime

import (
	"math"
	"time"
)

// Bucket bounds grow by a fixed ratio, as in the histograms of the Vertical Pod Autoscaler's recommender (Kubernetes
// autoscaler, 2017), so that the relative error of a quantile is at most that ratio.
const (
	ratio = 1.05
	// shortest and longest are the bounds of the first and the last bucket, which also count shorter and longer durations.
	shortest = time.Second
	longest  = 2 * time.Hour
	// buckets is the number of buckets: log(7200) ÷ log(1.05) = 182.05, so bucket 183 is the first bucket that reaches 2 h.
	buckets = 184
)

// unit is the weight of a start at the beginning of a half-life period; it doubles by the end of the period.
const unit = 1024

// maxWeight is the maximum weight of a bucket. It keeps the sum of all weights within an int64.
const maxWeight = 1 << 48

// Histogram counts weighted durations. The weights are whole numbers, so that a written histogram is exact.
type Histogram [buckets]int64

// bucketOf returns the first bucket whose bound is at least a duration.
func bucketOf(d time.Duration) int {
	if d <= shortest {
		return 0
	}
	i := int(math.Ceil(math.Log(d.Seconds()/shortest.Seconds()) / math.Log(ratio)))
	// The logarithm may be off by a rounding error.
	if bound(min(i, buckets-1)) < d {
		i++
	}
	return min(i, buckets-1)
}

// bound returns the longest duration of a bucket.
func bound(bucket int) time.Duration {
	return min(time.Duration(float64(shortest)*math.Pow(ratio, float64(bucket))), longest)
}

func (h *Histogram) add(d time.Duration, weight int64) {
	i := bucketOf(d)
	h[i] = min(h[i]+weight, maxWeight)
}

// halve halves all weights.
func (h *Histogram) halve() {
	for i := range h {
		h[i] /= 2
	}
}

func (h *Histogram) total() int64 {
	sum := int64(0)
	for _, w := range h {
		sum += w
	}
	return sum
}

// plus returns the sum of two histograms.
func (h *Histogram) plus(other *Histogram) Histogram {
	sum := *h
	for i := range sum {
		sum[i] += other[i]
	}
	return sum
}

// quantile returns the shortest duration, in whole seconds, that a share q of the weight does not exceed; 0 if there is no weight. It is at
// most 5 % too long (a bucket's width), plus the rounding.
func (h *Histogram) quantile(q float64) time.Duration {
	total := h.total()
	if total == 0 {
		return 0
	}
	need := max(int64(math.Ceil(q*float64(total))), 1)
	sum := int64(0)
	for i, w := range h {
		if sum += w; sum >= need {
			return ceil(bound(i))
		}
	}
	return longest
}

// ceil rounds up to whole seconds.
func ceil(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }
