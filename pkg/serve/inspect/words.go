package inspect

import (
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/ticks"
)

// unknown stands for a number that is not known.
const unknown = "-"

// number is four significant digits, never in exponents for what people watch: 0.125, 118.3, 4210, 12350000.
func number(v *float64) string {
	if v == nil {
		return unknown
	}
	return ticks.Number(*v)
}

// percent is a share in hundredths: 18.4%.
func percent(v *float64) string {
	if v == nil {
		return unknown
	}
	return strconv.FormatFloat(*v*100, 'f', 1, 64) + "%"
}

// span is a duration without its zeros: 5m, 6m15s, 1h; none is known where it is 0.
func span(d time.Duration) string {
	if d == 0 {
		return unknown
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
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
