package decide

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Ratio is how many times the demand of another workload a demand is.
type Ratio struct {
	// Usual is that of the sums, Low and High hold a tenth of the other's demand outside of them. All three are the same where the ratio
	// was given.
	Usual, Low, High float64
}

// leastPoints of a series must be known for a ratio: two hours of the five minutes that the points of a day are.
const leastPoints = 24

// LearnRatio is the ratio of one demand to another over the times at which both are known, each on a grid of its own; ok is false while too
// few are.
func LearnRatio(of, to forecast.Series) (r Ratio, ok bool) {
	type point struct{ ratio, weight float64 }
	var points []point
	sum, total := 0.0, 0.0
	for i, v := range of.Values {
		at := int(of.TimeAt(i).Sub(to.Start) / max(to.Step, 1))
		if at < 0 || at >= to.Len() || math.IsNaN(v) || !(to.Values[at] > 0) {
			continue
		}
		points = append(points, point{v / to.Values[at], to.Values[at]})
		sum, total = sum+v, total+to.Values[at]
	}
	if len(points) < leastPoints || sum == 0 {
		return Ratio{}, false
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.ratio, b.ratio) })
	const outside = 0.05 // At each end.
	below := 0.0
	for _, p := range points {
		if below <= outside*total {
			r.Low = p.ratio
		}
		if below < (1-outside)*total {
			r.High = p.ratio
		}
		below += p.weight
	}
	r.Usual = sum / total
	return r, true
}

// Leader is the decision that another one follows.
type Leader struct {
	Name  string
	Value float64
	Ratio Ratio
}

// Follow is a decision that follows another in place of its own: the leader's value times the ratio's high end, at most what history can
// justify, and with the mode, the floor and the limits of its own settings.
//
// Example: the leader is served 40, and the demand is 2.1 to 2.6 times its demand: 40·2.6 = 104.
func (l Leader) Follow(settings Settings, own Decision) Decision {
	d := Decision{
		Rule:     ByLeader,
		Leader:   l,
		Observed: own.Observed,
		Limit:    own.Limit,
		Target:   own.Target,
		Window:   own.Window,
		Events:   own.Events,
		Forecast: l.Value * l.Ratio.High,
		Suspect:  own.Suspect,
	}
	d.Value, d.Bounded = d.Limit.CapForecast(d.Forecast)
	d.serve(settings, d.Observed)
	return d
}

// WouldLead is the value by which others follow: the one that is decided, also in a shadow.
func (d *Decision) WouldLead() float64 { return *d.decided() }

func (l Leader) message(forecasted float64) string {
	ratio := humanize.Significant(l.Ratio.High, 3)
	if l.Ratio.Low < l.Ratio.High {
		ratio += fmt.Sprintf(
			", the high end of %s to %s over the last day",
			humanize.Significant(l.Ratio.Low, 3),
			ratio,
		)
	}
	return fmt.Sprintf(
		"%s = %s of Forecast %s × %s",
		humanize.Number(forecasted),
		humanize.Number(l.Value),
		l.Name,
		ratio,
	)
}
