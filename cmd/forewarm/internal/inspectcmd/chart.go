package inspectcmd

import (
	"math"
	"slices"
	"time"

	"github.com/guptarohit/asciigraph"

	inspect "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
)

const (
	chartHeight = 14
	// axisWidth is what the numbers of the vertical axis take.
	axisWidth = 12
	// leastColumns and mostColumns bound the chart, whatever the terminal.
	leastColumns, mostColumns = 40, 160
	// leastPast is shown of the past, and more where the forecast reaches far.
	leastPast = 3 * time.Hour
)

// chart draws the recent demand, what was and is served, and the path ahead, on one axis of time; empty where there is
// nothing to draw.
func (v *view) chart(s *inspect.OutlookStatus, now time.Time) string {
	columns := min(mostColumns, max(leastColumns, v.width-axisWidth))
	axis, ok := newAxis(s, now, columns)
	if !ok {
		return ""
	}
	lines := []struct {
		name, char string
		color      asciigraph.AnsiColor
		values     []float64
	}{
		{"its 0.95 quantile", "+", asciigraph.DarkGray, axis.path(s.Path, upper)},
		{"forecast", "•", asciigraph.Blue, axis.path(s.Path, func(p *inspect.PathStep) *float64 { return p.Point })},
		{"served", "=", asciigraph.Red, axis.served(s, now)},
		{"observed", "", asciigraph.Default, axis.observed(s.Recent)},
	}
	var (
		values [][]float64
		chars  []asciigraph.CharSet
		colors []asciigraph.AnsiColor
		legend string
	)
	for _, line := range lines {
		if !slices.ContainsFunc(line.values, known) {
			continue
		}
		set, sign := asciigraph.DefaultCharSet, "─"
		if line.char != "" {
			set, sign = asciigraph.CreateCharSet(line.char), line.char
		}
		values, chars, colors = append(values, line.values), append(chars, set), append(colors, line.color)
		legend = "   " + sign + " " + line.name + legend
	}
	if len(values) == 0 {
		return ""
	}
	options := []asciigraph.Option{
		asciigraph.Height(chartHeight), asciigraph.LowerBound(0), asciigraph.SeriesChars(chars...),
		asciigraph.YAxisValueFormatter(rounded),
		asciigraph.XAxisRange(0, axis.to.Sub(axis.from).Seconds()),
		asciigraph.XAxisValueFormatter(axis.clock),
	}
	if v.color {
		options = append(options, asciigraph.SeriesColors(colors...))
	}
	return asciigraph.PlotMany(values, options...) + "\n" + legend
}

// rounded labels the vertical axis; its zero comes as the rest of a subtraction.
func rounded(y float64) string {
	const least = 1e-9
	if math.Abs(y) < least {
		y = 0
	}
	return number(&y)
}

func known(v float64) bool { return !math.IsNaN(v) }

func upper(p *inspect.PathStep) *float64 {
	if q, ok := p.Quantiles["0.95"]; ok {
		return &q
	}
	return nil
}

// axis is a span of time in columns.
type axis struct {
	from, to time.Time
	columns  int
}

// newAxis spans the path ahead and as much of the past as sets it off; false where there is no past.
func newAxis(s *inspect.OutlookStatus, now time.Time, columns int) (axis, bool) {
	if len(s.Recent) == 0 || now.IsZero() {
		return axis{}, false
	}
	a := axis{to: now, columns: columns}
	for i := range s.Path {
		if at := s.Path[i].Time.Time; at.After(a.to) {
			a.to = at
		}
	}
	a.from = now.Add(-max(leastPast, 4*a.to.Sub(now)))
	if first := s.Recent[0].Time.Time; first.After(a.from) {
		a.from = first
	}
	return a, a.to.After(a.from)
}

// column of a time; outside [0, columns) where it is not on the axis.
func (a axis) column(at time.Time) int {
	return int(math.Floor(float64(at.Sub(a.from)) / float64(a.to.Sub(a.from)) * float64(a.columns-1)))
}

// clock labels a number of seconds from the left end with the time of day.
func (a axis) clock(seconds float64) string {
	at := a.from.Add(time.Duration(seconds * float64(time.Second))).Local()
	if a.to.Sub(a.from) > 36*time.Hour {
		return at.Format("Mon 15:04")
	}
	return at.Format("15:04")
}

// sums averages values by column.
type sums struct {
	total, n []float64
}

func (a axis) sums() sums {
	return sums{total: make([]float64, a.columns), n: make([]float64, a.columns)}
}

func (s sums) add(column int, value *float64) {
	if value != nil && column >= 0 && column < len(s.n) {
		s.total[column] += *value
		s.n[column]++
	}
}

func (s sums) means() []float64 {
	for i, n := range s.n {
		s.total[i] /= n // 0/0 is NaN: nothing is drawn.
	}
	return s.total
}

// observed is the recent demand; a sample that is wider than a column fills all of its columns.
func (a axis) observed(recent []inspect.Sample) []float64 {
	out := a.sums()
	if len(recent) < 2 {
		return out.means()
	}
	grid := recent[1].Time.Sub(recent[0].Time.Time)
	for _, sample := range recent {
		first, last := a.column(sample.Time.Time), a.column(sample.Time.Add(grid-1))
		for i := max(0, first); i <= min(last, a.columns-1); i++ {
			out.add(i, sample.Observed)
		}
	}
	return out.means()
}

// path is a part of the forecast, joined over columns between two of its steps.
func (a axis) path(path []inspect.PathStep, part func(*inspect.PathStep) *float64) []float64 {
	out := a.sums()
	last := -1
	for i := range path {
		column, value := a.column(path[i].Time.Time), part(&path[i])
		if last >= 0 {
			for between := last + 1; between < column; between++ {
				out.add(between, value)
			}
		}
		out.add(column, value)
		last = column
	}
	return out.means()
}

// served is each value that was served until the next one, and the one of now over its window.
func (a axis) served(s *inspect.OutlookStatus, now time.Time) []float64 {
	out := a.sums()
	fill := func(from, to time.Time, value *float64) {
		for i := max(0, a.column(from)); i <= min(a.column(to), a.columns-1); i++ {
			out.add(i, value)
		}
	}
	for i := range s.Past {
		until := now
		if i+1 < len(s.Past) {
			until = s.Past[i+1].Time.Add(-1)
		}
		fill(s.Past[i].Time.Time, until, s.Past[i].Forecast)
	}
	if s.Served != nil {
		fill(now, now.Add(s.Window.Duration), s.Served)
	}
	return out.means()
}
