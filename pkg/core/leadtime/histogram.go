package leadtime

import (
	"math"
	"time"
)

// The buckets. As in the histograms of the Vertical Pod Autoscaler's recommender (Kubernetes autoscaler, 2017), each is
// wider than the one before by a fixed ratio, so that a quantile is right to that ratio, whatever its size.
const (
	ratio = 1.05
	// shortest and longest are the bounds of the first and the last bucket; what is shorter or longer counts there.
	shortest = time.Second
	longest  = 2 * time.Hour
	// Buckets: log(7200) ÷ log(1.05) = 182.05, so bucket 183 is the first that reaches 2 h.
	Buckets = 184
)

// unit is the weight of a start at the beginning of a half-life; at its end it would be twice that.
const unit = 1024

// heaviest keeps a bucket's weight, and the sum of all, within an int64.
const heaviest = 1 << 48

// Histogram counts durations by weights. The weights are whole numbers, so that what is written of them is exact.
type Histogram [Buckets]int64

// bucketOf is the first bucket whose bound is not below a duration.
func bucketOf(d time.Duration) int {
	if d <= shortest {
		return 0
	}
	i := int(math.Ceil(math.Log(d.Seconds()/shortest.Seconds()) / math.Log(ratio)))
	// The logarithm may be off by a rounding.
	if bound(min(i, Buckets-1)) < d {
		i++
	}
	return min(i, Buckets-1)
}

// bound is the longest duration that counts in a bucket.
func bound(bucket int) time.Duration {
	return min(time.Duration(float64(shortest)*math.Pow(ratio, float64(bucket))), longest)
}

// add is O(1).
func (h *Histogram) add(d time.Duration, weight int64) {
	i := bucketOf(d)
	h[i] = min(h[i]+weight, heaviest)
}

// halve forgets half of everything.
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

// plus is both histograms together.
func (h *Histogram) plus(other *Histogram) Histogram {
	sum := *h
	for i := range sum {
		sum[i] += other[i]
	}
	return sum
}

// quantile is the least duration, in whole seconds, that a share q of all weight does not exceed; 0 where there is none.
// It is too long by a bucket's width at most, which is 5 %, and by the rounding.
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
