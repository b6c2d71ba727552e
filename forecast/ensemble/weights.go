package ensemble

import "math"

// record is a trailing mean of losses; each new one makes those before it count for less by a factor.
type record struct {
	sum, weight float64
}

func (r *record) add(loss, keep float64) {
	r.sum = keep*r.sum + loss
	r.weight = keep*r.weight + 1
}

// mean is NaN before the first loss.
func (r *record) mean() float64 { return r.sum / r.weight }

// tooFar is how many times the least loss a member may lose and still weigh.
const tooFar = 1.6

// share is the weight of a loss beside the least one: the sixteenth power of the inverse of their ratio.
func share(least, loss float64) float64 {
	if loss <= least {
		return 1
	}
	ratio := least / loss
	if ratio*tooFar < 1 {
		return 0
	}
	squared := ratio * ratio
	fourth := squared * squared
	return fourth * fourth * fourth * fourth
}

// weigh writes the shares of the records to dst, their sum 1. Where no loss is known all of the weight is the first's.
func weigh(dst []float64, records []record) {
	least := math.Inf(1)
	for i := range records {
		if loss := records[i].mean(); loss < least {
			least = loss
		}
	}
	total := 0.0
	for i := range records {
		dst[i] = 0
		if loss := records[i].mean(); !math.IsNaN(loss) {
			dst[i] = share(least, loss)
			total += dst[i]
		}
	}
	if total == 0 {
		dst[0] = 1
		return
	}
	for i := range dst {
		dst[i] /= total
	}
}
