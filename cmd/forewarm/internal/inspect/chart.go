package inspect

import (
	"math"
	"time"

	inspect "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

const (
	chartHeight = 14
	// maxColumns limits the chart's width on a wide terminal.
	maxColumns = 160
	// minPast is the minimum past that is shown; with a long forecast, more is shown.
	minPast = 3 * time.Hour
)

// chart draws the recent demand, the served values, and the forecast path on one time axis. It is empty if there is nothing to draw.
func (v *view) chart(s *inspect.OutlookStatus, now time.Time) string {
	axis, ok := newAxis(s, now, chart.CurveColumns(v.width, maxColumns))
	if !ok {
		return ""
	}
	points := axis.path(s.Path, func(p *inspect.PathStep) *float64 { return p.Point })
	on := chart.Canvas{
		Height: chartHeight, Color: v.color, Level: humanize.Number,
		Width: axis.to.Sub(axis.from).Seconds(), Label: axis.clock,
	}
	return chart.Curves(on,
		chart.Curve{Name: "its 0.95 quantile", Char: "+", Color: chart.Gray, Values: axis.path(s.Path, upper)},
		chart.Curve{Name: "forecast", Char: "•", Color: chart.Blue, Values: points},
		chart.Curve{Name: "served", Char: "=", Color: chart.Red, Values: axis.served(s, now)},
		chart.Curve{Name: "observed", Values: axis.observed(s.Recent)})
}

func upper(p *inspect.PathStep) *float64 {
	if q, ok := p.Quantiles["0.95"]; ok {
		return &q
	}
	return nil
}

// axis maps a span of time to columns.
type axis struct {
	from, to time.Time
	columns  int
}

// newAxis returns an axis that contains the path ahead, and a multiple of its length in the past. It returns false if there is no past.
func newAxis(s *inspect.OutlookStatus, now time.Time, columns int) (axis, bool) {
	if len(s.Recent) == 0 || now.IsZero() {
		return axis{}, false
	}
	a := axis{to: now, columns: columns}
	if n := len(s.Path); n > 0 && s.Path[n-1].Time.After(a.to) {
		a.to = s.Path[n-1].Time.Time
	}
	a.from = now.Add(-max(minPast, 4*a.to.Sub(now)))
	if first := s.Recent[0].Time.Time; first.After(a.from) {
		a.from = first
	}
	return a, a.to.After(a.from)
}

// column returns the column of a time. It is outside of [0, columns) if the time is not on the axis.
func (a axis) column(at time.Time) int {
	return int(math.Floor(float64(at.Sub(a.from)) / float64(a.to.Sub(a.from)) * float64(a.columns-1)))
}

// clock returns the time of day as the label for a number of seconds from the left end.
func (a axis) clock(seconds float64) string {
	at := a.from.Add(time.Duration(seconds * float64(time.Second))).Local()
	if a.to.Sub(a.from) > 36*time.Hour {
		return at.Format("Mon 15:04")
	}
	return at.Format("15:04")
}

// means returns the mean value of each column; NaN if there is none. fill adds a value to a range of columns.
func (a axis) means(draw func(fill func(first, last int, value *float64))) []float64 {
	total, n := make([]float64, a.columns), make([]float64, a.columns)
	draw(func(first, last int, value *float64) {
		for i := max(0, first); i <= min(last, a.columns-1) && value != nil; i++ {
			total[i] += *value
			n[i]++
		}
	})
	for i := range total {
		total[i] /= n[i] // 0/0 is NaN, which is not drawn.
	}
	return total
}

// observed returns the recent demand. A step that is wider than a column fills all of its columns.
func (a axis) observed(recent []inspect.Sample) []float64 {
	return a.means(func(fill func(first, last int, value *float64)) {
		if len(recent) < 2 {
			return
		}
		grid := recent[1].Time.Sub(recent[0].Time.Time)
		for _, sample := range recent {
			fill(a.column(sample.Time.Time), a.column(sample.Time.Add(grid-1)), sample.Observed)
		}
	})
}

// path returns one line of the forecast. Columns between two of its steps are filled.
func (a axis) path(path []inspect.PathStep, part func(*inspect.PathStep) *float64) []float64 {
	return a.means(func(fill func(first, last int, value *float64)) {
		before := -1
		for i := range path {
			column := a.column(path[i].Time.Time)
			first := column
			if before >= 0 {
				first = min(before+1, column)
			}
			fill(first, column, part(&path[i]))
			before = column
		}
	})
}

// served returns each served value until the next one, and the current value over its lead window.
func (a axis) served(s *inspect.OutlookStatus, now time.Time) []float64 {
	return a.means(func(fill func(first, last int, value *float64)) {
		for i := range s.Past {
			until := now
			if i+1 < len(s.Past) {
				until = s.Past[i+1].Time.Add(-1)
			}
			fill(a.column(s.Past[i].Time.Time), a.column(until), s.Past[i].Forecast)
		}
		fill(a.column(now), a.column(now.Add(s.Window.Duration)), s.Served)
	})
}
