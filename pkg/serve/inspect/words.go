package inspect

import (
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// unknown stands for a number that is not known.
const unknown = humanize.Unknown

func number(v *float64) string { return humanize.Maybe(v, humanize.Number) }

func percent(v *float64) string { return humanize.Maybe(v, humanize.Percent) }

func lateShare(v *float64) string { return humanize.Maybe(v, humanize.Late) }

// multiple is k with as many digits as matter: 1.27.
func multiple(v *float64) string {
	return humanize.Maybe(v, func(v float64) string { return humanize.Digits(v, 3) })
}

// times is a multiple of the demand: 1.7 ×.
func times(v *float64) string {
	return humanize.Maybe(v, func(v float64) string { return humanize.Digits(v, 3) + " ×" })
}

// span is a duration without its zeros: 5m, 6m15s, 1h; none is known where it is 0.
func span(d time.Duration) string {
	if d == 0 {
		return unknown
	}
	return humanize.Span(d)
}

// level is what the served value keeps to: a quantile, how much may be late, or what late demand costs.
func level(s *v1alpha1.OutlookStatus) string {
	switch {
	case s.Late != nil:
		return humanize.Asked(*s.Late) + " late"
	case s.CostRatio != nil:
		return Ratio(*s.CostRatio)
	case s.Quantile != nil:
		return strconv.FormatFloat(*s.Quantile, 'g', 4, 64)
	}
	return unknown
}

// Ratio is a cost ratio in words: 20×.
func Ratio(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) + "×" }

// Achieved is the share of the demand that was late, marked where the objective is missed; a dash where none is served by
// outcome.
func Achieved(s *v1alpha1.OutlookStatus) string {
	if s.Outcome == nil {
		return unknown
	}
	text := lateShare(s.Outcome.Served.Late)
	if outcome.Verdict(s.Outcome.Verdict).Misses() {
		text += "!"
	}
	return text
}

// unbounded is a number of replicas that stands for no bound.
const unbounded = 1_000_000

// Replicas are those that an autoscaler may take, in words.
func Replicas(s *v1alpha1.Scaling) string {
	if s.MaxReplicas >= unbounded {
		return fmt.Sprintf("%d or more", s.MinReplicas)
	}
	return fmt.Sprintf("%d to %d", s.MinReplicas, s.MaxReplicas)
}

// Age is that of the newest sample; a dash where there is none, or the time is not known.
func Age(s *v1alpha1.OutlookStatus, now time.Time) string {
	if s.SampleTime == nil || now.IsZero() {
		return unknown
	}
	return duration.HumanDuration(max(0, now.Sub(s.SampleTime.Time)))
}
