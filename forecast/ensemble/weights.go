package ensemble

import "math"

// record is a trailing mean of losses, whose weights halve with every half-life.
type record struct {
	sum, weight float64
}

func (r *record) add(loss, keep float64) {
	r.sum = keep*r.sum + loss
	r.weight = keep*r.weight + 1
}

// mean is NaN before the first loss.
func (r *record) mean() float64 { return r.sum / r.weight }

// share is the weight of a loss beside the least one: the inverse of their ratio's power, 0 from a ratio of tooFar on.
func share(least, loss float64) float64 {
	if loss <= least {
		return 1
	}
	ratio := least / loss
	if !(ratio*tooFar > 1) {
		return 0
	}
	return math.Pow(ratio, power)
}

var (
	power  = 4.0
	tooFar = 1.6
)

// weigh writes the shares of the records to dst, their sum 1. Without a known loss all of the weight goes to the first.
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
