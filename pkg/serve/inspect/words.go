package inspect

import (
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/figures"
)

// unknown stands for a number that is not known.
const unknown = figures.Unknown

func number(v *float64) string { return figures.Maybe(v, figures.Number) }

func percent(v *float64) string { return figures.Maybe(v, figures.Percent) }

// span is a duration without its zeros: 5m, 6m15s, 1h; none is known where it is 0.
func span(d time.Duration) string {
	if d == 0 {
		return unknown
	}
	return figures.Span(d)
}

// level is what the served value keeps to: a quantile, how much may be late, or what late demand costs.
func level(s *v1alpha1.OutlookStatus) string {
	switch {
	case s.Late != nil:
		return asked(*s.Late) + " late"
	case s.CostRatio != nil:
		return ratio(*s.CostRatio)
	case s.Quantile != nil:
		return strconv.FormatFloat(*s.Quantile, 'g', 4, 64)
	}
	return unknown
}

// asked is an objective's share as a user writes it: 1%, 0.5%.
func asked(late float64) string { return strconv.FormatFloat(late*100, 'g', 4, 64) + "%" }

// ratio is a cost ratio: 20×.
func ratio(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) + "×" }

// age is that of the newest sample.
func age(s *v1alpha1.OutlookStatus, now time.Time) string {
	if s.SampleTime == nil {
		return unknown
	}
	return duration.HumanDuration(now.Sub(s.SampleTime.Time))
}

// orUnknown is the text, or a dash in place of an empty one.
func orUnknown(text string) string {
	if text == "" {
		return unknown
	}
	return text
}
