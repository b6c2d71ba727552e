package margin

import (
	"math"
	"time"
)

// onOthers is the share late under each multiple of the grid, the geometric mean over families of recorded request rates,
// by the time that pods take to start (forewarm's outcome study, 2026).
var onOthers = []struct { //nolint:gochecknoglobals // A constant table.
	lead time.Duration
	late []float64 // percent
}{
	{
		2 * time.Minute,
		[]float64{24.28, 8.56, 2.98, .73, .34, .16, .12, .07, .05, .04, .04, .03, .03, .02, .02, .02, .02, .02},
	},
	{
		5 * time.Minute,
		[]float64{24.93, 13.19, 7.44, 4.06, 2.18, 1.19, .73, .30, .15, .10, .08, .07, .05, .04, .04, .03, .02, .02},
	},
	{
		10 * time.Minute,
		[]float64{21.68, 13.34, 8.11, 4.79, 3.01, 1.53, 1.09, .50, .38, .29, .16, .13, .09, .05, .05, .04, .02, .02},
	},
}

// Prior is the share late under each multiple of the grid for a lead time: between two rows of the table by lines over the
// logarithms, outside it that of its edge, because nothing was measured there.
func Prior(lead time.Duration) []float64 {
	out := make([]float64, len(Grid()))
	low, high, share := bracket(lead)
	for i := range out {
		a, b := math.Log(onOthers[low].late[i]/100), math.Log(onOthers[high].late[i]/100)
		out[i] = math.Exp(a + share*(b-a))
	}
	return out
}

func bracket(lead time.Duration) (low, high int, share float64) {
	if lead <= onOthers[0].lead {
		return 0, 0, 0
	}
	for i := 1; i < len(onOthers); i++ {
		a, b := onOthers[i-1].lead, onOthers[i].lead
		if lead <= b {
			return i - 1, i, math.Log(float64(lead)/float64(a)) / math.Log(float64(b)/float64(a))
		}
	}
	last := len(onOthers) - 1
	return last, last, 0
}
