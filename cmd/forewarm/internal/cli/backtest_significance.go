package cli

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/forewarm/forewarm/forecast/accuracy"
)

const (
	// equalWithin is the difference below which two losses are called the same: the server promotes a model for no less.
	equalWithin = 0.03
	// batches are the stretches whose losses are compared; each holds leastWindows windows that do not overlap, and with
	// fewer than leastBatches nothing is sure.
	batches, leastBatches, leastWindows = 20, 8, 2
	// standardErrors is how many standard errors a difference must be from nothing.
	standardErrors = 2
)

// lossDifference is by which share a model loses more than another at the lead time, and whether that is more than chance: the
// difference of the losses is compared with its standard error from the means of batches, for neighbouring windows
// overlap (Diebold & Mariano 1995 compare forecasts so; batch means after Law & Carson 1979).
func (r backtestReport) lossDifference(model, other int) (share float64, sure bool) {
	share = r.loss(model, r.lead)/r.loss(other, r.lead) - 1
	own, its := r.track(model).PeakQuantile[verdictLevel], r.track(other).PeakQuantile[verdictLevel]
	n := len(r.windows)
	count := min(batches, n*r.plan.stride/(leastWindows*r.plan.lead))
	var differences []float64
	for b := range count {
		from, to := b*n/count, (b+1)*n/count
		a := scoreOrNaN(accuracy.Pinball(r.windows[from:to], own[from:to], levels()[verdictLevel]))
		c := scoreOrNaN(accuracy.Pinball(r.windows[from:to], its[from:to], levels()[verdictLevel]))
		if difference := a - c; !math.IsNaN(difference) {
			differences = append(differences, difference)
		}
	}
	if len(differences) < leastBatches {
		return share, false
	}
	mean, deviation := stat.MeanStdDev(differences, nil)
	return share, math.Abs(mean) > standardErrors*deviation/math.Sqrt(float64(len(differences)))
}
