package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/demand"
)

// isCensored reports whether the observed value is a lower bound of the demand. Otherwise the demand is masked.
func isCensored(r v1alpha1.Classification) bool { return r.Kind == string(demand.Censored) }

func isMasked(c v1alpha1.Classification) bool { return !isCensored(c) }

// shadeClassified shades classified times: with arrows up where the demand is censored, hatched where it is masked.
func shadeClassified(c *chart.Chart, a timeScale, classifications []v1alpha1.Classification) {
	for _, r := range classifications {
		draw := c.HatchedBand
		if isCensored(r) {
			draw = c.UpwardBand
		}
		draw(a.at(r.From.Time), a.at(r.To.Time))
	}
}

// classificationKeys are the legend for the shades in use.
func classificationKeys(classifications []v1alpha1.Classification) []chart.LegendKey {
	var out []chart.LegendKey
	if slices.ContainsFunc(classifications, isCensored) {
		out = append(out,
			chart.LegendKey{Name: "censored (saturated)", Draw: func(c *chart.Chart) { c.UpwardBand(0, 1) }})
	}
	if slices.ContainsFunc(classifications, isMasked) {
		out = append(out, chart.LegendKey{Name: "masked", Draw: func(c *chart.Chart) { c.HatchedBand(0, 1) }})
	}
	return out
}

// classificationRow is one row of the table of classified times.
type classificationRow struct{ When, Kind, Why string }

// maxRows is how many of the newest rows the page shows. The outlook contains all rows.
const maxRows = 8

func classificationRows(classifications []v1alpha1.Classification, step time.Duration) []classificationRow {
	var out []classificationRow
	for i := len(classifications) - 1; i >= max(0, len(classifications)-maxRows); i-- {
		r := classifications[i]
		kind := "masked"
		if isCensored(r) {
			kind = "censored: the real demand may be higher"
		}
		out = append(out, classificationRow{When: timeRange(r, step), Kind: kind, Why: r.Message})
	}
	return out
}

// timeRange returns the time of a classification. It adds the number of samples, unless the classification applies to all samples in that
// time.
func timeRange(r v1alpha1.Classification, step time.Duration) string {
	text := fmt.Sprintf("%s to %s UTC", r.From.UTC().Format("2 Jan 15:04:05"), r.To.UTC().Format("15:04:05"))
	if all := r.To.Sub(r.From.Time) / max(step, 1); all > time.Duration(r.Samples) {
		text += fmt.Sprintf(" (%d of %d samples)", r.Samples, all)
	}
	return text
}

// plotDescription describes the shaded times, for screen readers.
func plotDescription(s *v1alpha1.OutlookStatus) string {
	rows := classificationRows(s.Classifications, s.Step.Duration)
	texts := make([]string, len(rows))
	for i, r := range rows {
		texts[i] = r.When + ": " + r.Kind + ", " + r.Why
	}
	return strings.Join(texts, "; ")
}
