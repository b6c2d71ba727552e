package ensemble

import "math"

// correction learns what the blend of the members at an anchor still misses: a median regression of its errors on how far
// each member stood from it. Weights that are positive and sum to 1 cannot say that the truth lies beyond all members, nor
// that one of them errs to a known side; on the one-minute traces this lowers the error ten and fifteen steps ahead by half
// a point of a hundred.
//
// It is quantile regression by reweighting (Schlossmacher 1973; see package quantreg) in recursive form: an observation
// enters the moments once, with the weight that its error has then.
type correction struct {
	steps int
	// moments are the lower triangle of those of the members' distances from the blend, line by line; right are those of
	// the distances and the error; coefficients solve the two.
	moments, right, coefficients []float64
	row                          []float64 // scratch
	// errors are the trailing magnitude of the blend's errors, the unit of all of them.
	errors record
	// blends are those of the open origins, a ring; at is the oldest.
	blends []float64
	at     int
}

const (
	// correctionKeep is the factor by which the moments forget at a step: a half-life of 1440.
	correctionKeep = 0.9995187636226662 // 2^(−1/1440)
	// correctionRidge is added to the diagonal of the moments, as a multiple of it: the members are many and alike.
	correctionRidge = 1
	// correctionEpsilon is the error, in units of the usual one, below which all weigh the same.
	correctionEpsilon = 0.3
	// correctionErrors are needed before anything is corrected.
	correctionErrors = 300
	// farAstray bounds a distance, in units of the usual error: the members of an explosive series must not overflow.
	farAstray = 1e4
)

func newCorrection(steps, members int) correction {
	return correction{
		steps: steps, moments: make([]float64, members*members), right: make([]float64, members),
		coefficients: make([]float64, members), row: make([]float64, members), blends: make([]float64, steps),
	}
}

// file keeps the blend of an origin until the truth is known.
func (c *correction) file(blend float64) {
	c.blends[c.at] = blend
	c.at++
	if c.at == c.steps {
		c.at = 0
	}
}

// learn takes the truth of the oldest open origin, and what the members forecast then.
func (c *correction) learn(y float64, points []float64) {
	blend := c.blends[c.at]
	c.errors.add(math.Abs(y-blend), correctionKeep)
	unit := c.errors.mean()
	if !(unit > 0) {
		return // No error so far.
	}
	e := within((y-blend)/unit, farAstray)
	left := e
	for k, point := range points {
		c.row[k] = 0
		if d := (point - blend) / unit; !math.IsNaN(d) {
			c.row[k] = within(d, farAstray)
		}
		left -= c.coefficients[k] * c.row[k]
	}
	c.gather(e, 1/max(math.Abs(left), correctionEpsilon))
	if c.errors.weight >= correctionErrors {
		c.sweep()
	}
}

// gather adds the row to the moments, which forget.
func (c *correction) gather(e, weight float64) {
	for k, d := range c.row {
		d *= weight
		c.right[k] = correctionKeep*c.right[k] + d*e
		line := c.moments[k*len(c.row) : k*len(c.row)+k+1]
		for l := range line {
			line[l] = correctionKeep*line[l] + d*c.row[l]
		}
	}
}

// choose keeps what is known of some members.
func (c *correction) choose(keep []int) {
	n := len(c.row)
	moments := make([]float64, len(keep)*len(keep))
	for i, k := range keep {
		for j, l := range keep[:i+1] {
			moments[i*len(keep)+j] = c.moments[k*n+l] // keep ascends: the lower triangle stays one.
		}
	}
	c.moments, c.right, c.coefficients = moments, chosen(c.right, keep), chosen(c.coefficients, keep)
	c.row = make([]float64, len(keep))
	if c.errors.weight >= correctionErrors {
		for range settling {
			c.sweep()
		}
	}
}

// settling is how many sweeps take the coefficients of fewer members to their new places.
const settling = 20

// sweep brings the coefficients nearer to the solution of the moments, each in turn (Gauss and Seidel): they move so little
// from one observation to the next that one sweep follows them.
func (c *correction) sweep() {
	n := len(c.row)
	for k := range c.coefficients {
		diagonal := c.moments[k*n+k]
		if diagonal == 0 {
			continue
		}
		sum := c.right[k]
		for l, v := range c.coefficients[:k] {
			sum -= c.moments[k*n+l] * v
		}
		for l := k + 1; l < n; l++ {
			sum -= c.moments[l*n+k] * c.coefficients[l]
		}
		c.coefficients[k] = sum / (diagonal * (1 + correctionRidge))
	}
}

// within is v, held within a bound on either side.
func within(v, bound float64) float64 { return max(min(v, bound), -bound) }
