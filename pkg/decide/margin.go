package decide

import (
	"math"
	"time"
)

// margins is the multiple k of (q95 − q50) above the median that kept lateness at 0.5, 1 and 2 % on average over 14 real
// request-rate traces, for pods that take 2, 5 and 10 minutes to start (forewarm's outcome study, 2026).
var margins = []struct { //nolint:gochecknoglobals // A constant table.
	lead time.Duration
	k    [3]float64
}{
	{2 * time.Minute, [3]float64{1.0, 0.75, 0.57}},
	{5 * time.Minute, [3]float64{1.8, 1.3, 0.96}},
	{10 * time.Minute, [3]float64{2.6, 1.65, 1.2}},
}

// marginLates are the columns of margins, as shares of demand.
var marginLates = [3]float64{0.005, 0.01, 0.02} //nolint:gochecknoglobals // A constant table.

// Margin is k for a lead time and an objective: linear in the logarithms of both within the table, and that of the
// nearest edge outside it, because nothing was measured there.
func Margin(lead time.Duration, late float64) float64 {
	first, last := margins[0], margins[len(margins)-1]
	if lead <= first.lead {
		return marginAt(first.k, late)
	}
	for i := 1; i < len(margins); i++ {
		low, high := margins[i-1], margins[i]
		if lead <= high.lead {
			share := logShare(low.lead.Seconds(), high.lead.Seconds(), lead.Seconds())
			return mix(marginAt(low.k, late), marginAt(high.k, late), share)
		}
	}
	return marginAt(last.k, late)
}

func marginAt(k [3]float64, late float64) float64 {
	if late <= marginLates[0] {
		return k[0]
	}
	for i := 1; i < len(k); i++ {
		if late <= marginLates[i] {
			return mix(k[i-1], k[i], logShare(marginLates[i-1], marginLates[i], late))
		}
	}
	return k[len(k)-1]
}

func logShare(from, to, at float64) float64 { return math.Log(at/from) / math.Log(to/from) }

func mix(a, b, share float64) float64 { return a + share*(b-a) }
