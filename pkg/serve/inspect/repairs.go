package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/classify"
)

// atLeast says that the demand was no less than what is seen; else nothing is known of it.
func atLeast(r v1alpha1.Repair) bool { return r.Kind == classify.LowerBound.String() }

// shade shades what lies in the panel: with arrows up where the demand was no less than what was read, hatched where
// nothing is known.
func shade(c *chart.Chart, a axis, repairs []v1alpha1.Repair) {
	for _, r := range repairs {
		draw := c.Hatched
		if atLeast(r) {
			draw = c.Upward
		}
		draw(a.at(r.From.Time), a.at(r.To.Time))
	}
}

// repairKeys are those of the legend, where there is something to name.
func repairKeys(repairs []v1alpha1.Repair) []chart.Key {
	var out []chart.Key
	if slices.ContainsFunc(repairs, atLeast) {
		out = append(out, chart.Key{Name: "at least (saturated)", Draw: func(c *chart.Chart) { c.Upward(0, 1) }})
	}
	if slices.ContainsFunc(repairs, func(r v1alpha1.Repair) bool { return !atLeast(r) }) {
		out = append(out, chart.Key{Name: "masked", Draw: func(c *chart.Chart) { c.Hatched(0, 1) }})
	}
	return out
}

// repairRow is a repair in words.
type repairRow struct{ When, Kind, Why string }

// mostRows of the newest are shown; the outlook has all of them.
const mostRows = 8

func repairRows(repairs []v1alpha1.Repair, step time.Duration) []repairRow {
	var out []repairRow
	for i := len(repairs) - 1; i >= max(0, len(repairs)-mostRows); i-- {
		r := repairs[i]
		kind := "masked"
		if atLeast(r) {
			kind = "at least what is seen"
		}
		out = append(out, repairRow{When: when(r, step), Kind: kind, Why: r.Why})
	}
	return out
}

// when is the time of a repair, and how many of its samples it is of where it is not all of them.
func when(r v1alpha1.Repair, step time.Duration) string {
	text := fmt.Sprintf("%s to %s UTC", r.From.UTC().Format("2 Jan 15:04:05"), r.To.UTC().Format("15:04:05"))
	if all := r.To.Sub(r.From.Time) / max(step, 1); all > time.Duration(r.Samples) {
		text += fmt.Sprintf(" (%d of %d samples)", r.Samples, all)
	}
	return text
}

// described is the bands for those who cannot see them.
func described(s *v1alpha1.OutlookStatus) string {
	rows := repairRows(s.Repairs, s.Step.Duration)
	texts := make([]string, len(rows))
	for i, r := range rows {
		texts[i] = r.When + ": " + r.Kind + ", " + r.Why
	}
	return strings.Join(texts, "; ")
}
