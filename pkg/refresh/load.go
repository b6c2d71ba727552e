package refresh

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

const (
	// targetRatio: a target is doubtful if what a replica sustains differs from it by this factor in each of targetIntervals judged
	// intervals. Smaller differences are for `forewarm capacity`: the load of replicas varies, and a signal may count what waits.
	targetRatio     = 3
	targetIntervals = 6
)

// load is what a ready replica carries, beside the autoscaler's target. An interval tells something if replicas were saturated in all
// of it, or in none of it and carried more than a third of the target: idle replicas tell nothing.
type load struct {
	// high and low count the intervals in a row that say that the target is too high or too low.
	high, low int
	// carried and target are those of the newest interval that told something.
	carried, target float64
}

// judge judges an interval by its mean demand per ready replica and the share of its steps that were saturated.
func (l *load) judge(carried, target, saturated float64) {
	switch {
	case saturated == 1 && carried*targetRatio < target:
		l.high, l.low = l.high+1, 0
	case saturated == 0 && carried > target*targetRatio:
		l.high, l.low = 0, l.low+1
	case saturated == 1, saturated == 0 && carried*targetRatio >= target:
		l.high, l.low = 0, 0
	default:
		return
	}
	l.carried, l.target = carried, target
}

// judgeLoad judges the load of the newest interval, where replicas and saturation are known.
func (w *worker) judgeLoad(end time.Time) {
	if !(w.ready > 0) || w.saturation == nil || len(w.job.Autoscalers) != 1 {
		return
	}
	read := w.store.Range(end.Add(-judgeInterval), end)
	sum, known, saturated := 0.0, 0.0, 0.0
	for i, v := range read.Values {
		if math.IsNaN(v) {
			continue
		}
		sum, known = sum+v, known+1
		if w.saturation.at(read.TimeAt(i)) {
			saturated++
		}
	}
	if known > 0 {
		w.result.load.judge(sum/known/w.ready, w.job.Autoscalers[0].Target(), saturated/known)
	}
}

// doubt is why the target is doubtful; empty if it is not.
func (l *load) doubt() (reason, message string) {
	switch {
	case l.high >= targetIntervals:
		return reasonTargetTooHigh, fmt.Sprintf("for %s replicas were saturated at a demand of %.4g "+
			"each, and the autoscaler's target is %.4g: forewarm capacity estimates what a replica sustains; or "+
			"the query has another unit, or the demand of one replica and not the total",
			humanize.Span(targetIntervals*judgeInterval), l.carried, l.target)
	case l.low >= targetIntervals:
		return reasonTargetTooLow, fmt.Sprintf("for %s replicas carried a demand of %.4g each and were "+
			"not saturated, and the autoscaler's target is %.4g: forewarm capacity estimates what a replica "+
			"sustains; or the query has another unit", humanize.Span(targetIntervals*judgeInterval), l.carried,
			l.target)
	}
	return "", ""
}
