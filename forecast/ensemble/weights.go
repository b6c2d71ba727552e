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

const (
	// sharpestMember is the highest power of the inverse of a loss that a member weighs by: nearly the best one alone.
	// Gauges of errors differ less, and their losses are less sure.
	sharpestMember, sharpestGauge = 64, 24
	// sharpness is the power where one independent loss is known.
	sharpness = 2
	// enough losses tell members apart.
	enough = 150
)

// power of the inverse losses that members weigh by, where so many are known of forecasts so many steps ahead. Errors of
// forecasts that overlap are alike, so that a horizon's worth of them counts for one. On short series and at long horizons,
// where each mean loss is known to one over the root of that number, sharper weights would follow chance; with fewer than
// enough in all they did so even then.
func power(losses float64, steps, most int) int {
	independent := losses / float64(steps)
	return min(int(math.Ceil(sharpness*math.Sqrt(independent)*min(1, losses/enough))), most)
}

// share is the weight of a loss beside the least one.
func share(least, loss float64, power int) float64 {
	if loss <= least {
		return 1
	}
	ratio := least / loss
	if ratio*tooFar < 1 {
		return 0
	}
	out := 1.0
	for ; power > 0; power /= 2 { // whole powers, as there are thousands of them a step
		if power%2 == 1 {
			out *= ratio
		}
		ratio *= ratio
	}
	return out
}

// weigh writes the shares of the records to dst, their sum 1. Where no loss is known all of the weight is the first's.
func weigh(dst []float64, records []record, steps, most int) {
	least, losses := math.Inf(1), 0.0
	for i := range records {
		losses = max(losses, records[i].weight)
		if loss := records[i].mean(); loss < least {
			least = loss
		}
	}
	total, sharp := 0.0, power(losses, steps, most)
	for i := range records {
		dst[i] = 0
		if loss := records[i].mean(); !math.IsNaN(loss) {
			dst[i] = share(least, loss, sharp)
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

// enoughTogether is how many losses of neighbouring anchors judge the members at one of them.
const enoughTogether = 2 * enough

// around are the losses by which members are judged at anchor j: those of the anchor and of the two beside it, as where
// it is a whole number of seasons ahead the last value would else seem to suit the steps before it, too; and of more on
// either side until they are enough. The replay of a short series tells little about any one anchor, and may not reach
// the last of them at all.
func around(losses [][]record, j int) [][]record {
	low, high := max(j-1, 0), min(j+2, len(losses))
	for known(losses[low:high]) < enoughTogether && high-low < len(losses) {
		low, high = max(low-1, 0), min(high+1, len(losses))
	}
	return losses[low:high]
}

// known is how many losses there are: those of the first member, the last value, which always has one.
func known(losses [][]record) float64 {
	n := 0.0
	for _, members := range losses {
		n += members[0].weight
	}
	return n
}
