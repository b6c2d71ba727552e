package ensemble

import (
	"cmp"
	"math"
	"slices"
)

// fewestMembers and mostScored say how many members live on after the hold-out: those that are nearly alike gain little
// from each other, and each costs time at every update and memory between them, for every horizon that is scored. At 48
// horizons that is eight: with six the mean absolute scaled error is the same on M4 Hourly, and 1 to 3 % higher on three
// traces, 48 and 60 steps ahead. At the four horizons of an autoscaler all of them are affordable.
const (
	fewestMembers = 8
	mostScored    = 48 * fewestMembers
)

// choose keeps the members that weighed most in the replay, over all anchors, and the last value; the others are listed
// as outdone. Their turn comes again at the next fit.
func (c *Combination) choose() {
	ranks := make([]int, len(c.members))
	for k := range ranks {
		ranks[k] = k
	}
	slices.SortStableFunc(ranks[1:], func(a, b int) int { return cmp.Compare(c.totalWeight(b), c.totalWeight(a)) })
	keep := ranks[:min(max(fewestMembers, mostScored/len(c.anchors)), len(ranks))]
	slices.Sort(keep)
	for k, m := range c.members {
		if !slices.Contains(keep, k) {
			c.outdone = append(c.outdone, c.candidateReason(k, m))
		}
	}
	c.members = chosen(c.members, keep)
	for j := range c.anchors {
		c.losses[j] = chosen(c.losses[j], keep)
		c.weights[j] = make([]float64, len(keep))
		c.pending[j] = chosenOf(c.pending[j], keep, len(ranks))
	}
	c.judged = make([]record, len(keep))
	c.weigh()
}

// totalWeight is the weight of member k over all anchors.
func (c *Combination) totalWeight(k int) float64 {
	sum := 0.0
	for j := range c.anchors {
		sum += c.weights[j][k]
	}
	return sum
}

// chosen are the items at some indices.
func chosen[T any](items []T, indices []int) []T {
	out := make([]T, len(indices))
	for i, k := range indices {
		out[i] = items[k]
	}
	return out
}

// chosenOf is chosen in each row of a table.
func chosenOf(rows []float64, indices []int, width int) []float64 {
	var out []float64
	for at := 0; at < len(rows); at += width {
		out = append(out, chosen(rows[at:at+width], indices)...)
	}
	return out
}

// Reasons explain an ensemble's forecast.
type Reasons struct {
	// Horizons are the steps ahead that are scored, ascending; what is given by horizon is in their order.
	Horizons []int
	// Candidates are the models that were considered, those that take part first.
	Candidates []Candidate
	// Errors is how many errors the quantiles rest on, by horizon; with fewer than 40 they are the members' own.
	Errors []int
}

// Candidate is a model that was considered.
type Candidate struct {
	Name string
	// Kind is the name without what comes of the seasons and the data, as Auto.Without takes it: "auto-ETS". It is empty
	// where TooCostly.
	Kind string
	// Loss is the trailing mean absolute error by horizon, NaN where it is not known; Weight is the share that the
	// model has in the ensemble's forecast.
	Loss, Weight []float64
	// Err is why the model could not be fitted; TooCostly means that the budget left it out; Outdone that others did
	// better at the end of the series, which was held out: its losses are of that time.
	Err                error
	TooCostly, Outdone bool
}

// Reasons are a copy: they do not change with the next Update.
func (f *Fitted) Reasons() Reasons {
	r := f.points.Reasons()
	for j := range r.Horizons {
		r.Errors = append(r.Errors, f.values[j].gauges[0].scores.Len())
	}
	return r
}

// Reasons are a copy: they do not change with the next Update. Nothing is calibrated.
func (c *Combination) Reasons() Reasons {
	r := Reasons{Horizons: slices.Clone(c.anchors)}
	for k, m := range c.members {
		r.Candidates = append(r.Candidates, c.candidateReason(k, m))
	}
	for _, o := range c.outdone {
		o.Loss, o.Weight, o.Outdone = slices.Clone(o.Loss), make([]float64, len(c.anchors)), true
		r.Candidates = append(r.Candidates, o)
	}
	for _, name := range c.dropped {
		r.Candidates = append(r.Candidates, Candidate{Name: name, TooCostly: true})
	}
	return r
}

// candidateReason is member k in the form of Reasons.
func (c *Combination) candidateReason(k int, m *member) Candidate {
	out := Candidate{Name: m.name(), Kind: kind(m.model), Err: m.err}
	for j := range c.anchors {
		out.Loss = append(out.Loss, c.losses[j][k].mean())
		out.Weight = append(out.Weight, c.weights[j][k])
	}
	return out
}

// name is that of the fitted model where it has one: automatic models select their structure in Fit.
func (m *member) name() string {
	if named, ok := m.fitted.(interface{ Name() string }); ok && m.err == nil {
		return named.Name()
	}
	return m.candidate.name()
}

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
