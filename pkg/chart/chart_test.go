package chart_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/chart"
)

// ten is a chart whose axes' unit is ten units of the drawing.
func ten() *chart.Chart {
	return &chart.Chart{X: chart.NumberAxis(0, 10), Y: chart.NumberAxis(0, 10), Tall: 100, Across: 100, Up: 100}
}

// paths returns the marks of a chart in order, with their classes.
func paths(t *testing.T, c *chart.Chart) []string {
	t.Helper()
	svg, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(svg)) {
		if rest, ok := strings.CutPrefix(line, `<path class="`); ok {
			class, after, _ := strings.Cut(rest, `" d="`)
			path, _, _ := strings.Cut(after, `"`)
			out = append(out, class+": "+path)
		}
	}
	return out
}

func TestMarks(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name string
		draw func(*chart.Chart)
		want []string
	}{
		{"a line breaks where nothing is known, and a point alone is a dot", func(c *chart.Chart) {
			c.Line("l", chart.Point{X: 0, Y: 1}, chart.Point{X: 1, Y: 2}, chart.Point{X: 2, Y: nan}, chart.Point{X: 3, Y: 4})
		}, []string{"l: M0 90L10 80", "l dot: M30 60h0"}},
		{"of what is beside the axis only the neighbours are kept", func(c *chart.Chart) {
			var line []chart.Point
			for _, x := range []float64{-4, -3, 5, 12, 13} {
				line = append(line, chart.Point{X: x, Y: 1})
			}
			c.Line("l", line...)
		}, []string{"l: M-30 90H50H120"}},
		{"steps keep a value and lead straight to the next", func(c *chart.Chart) {
			c.Line("l", chart.Steps([]float64{1, 1, 3}, 2)...)
		}, []string{"l: M0 90H20H40V70H60"}},
		{"an area without a low line ends on the ground", func(c *chart.Chart) {
			c.Area("a", nil, chart.Steps([]float64{2, nan, 3}, 1))
		}, []string{"a: M0 80H10V100H0zM20 70H30V100H20z"}},
		{"an area lies where both of its lines are known", func(c *chart.Chart) {
			c.Area("a", chart.Steps([]float64{1, 1}, 1), chart.Steps([]float64{2, math.Inf(1)}, 1))
		}, []string{"a: M0 80H10V90H0z"}},
		{"a stretch is cut at the axis and wide enough to be seen", func(c *chart.Chart) {
			c.UpwardBand(-5, 0.1)
			c.HatchedBand(11, 12)
		}, []string{"bound: M0 0H3V100H0z", "arrows: M-2 8h7l-3.5 -6z"}},
		{"nothing is drawn of nothing", func(c *chart.Chart) {
			c.Line("l")
			c.Dots("d", chart.Point{X: 1, Y: nan}, chart.Point{X: 11, Y: 1})
			c.Area("a", nil, nil)
		}, nil},
	} {
		drawn := ten()
		c.draw(drawn)
		if diff := cmp.Diff(c.want, paths(t, drawn)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// A standalone picture is not only read by browsers: it has no CSS variables.
func TestSheetHasItsColours(t *testing.T) {
	sheet := chart.Sheet{Width: 200, Height: 200, Title: "<title>\x1b\u202e"}
	sheet.Chart(0, 0, 100, ten())
	sheet.Legend(0, 180, chart.LineKey("observed", "observed"))
	svg, err := sheet.SVG()
	if err != nil {
		t.Fatal(err)
	}
	text := string(svg)
	if strings.Contains(text, "var(") || !strings.Contains(text, "path.observed { stroke: #1f4e79;") {
		t.Error("the style has variables in place of colours")
	}
	if !strings.Contains(text, `<title>&lt;title&gt;\u001b\u202e</title>`) {
		t.Error("the title is markup, or hides text")
	}
}

func TestBars(t *testing.T) {
	if got := chart.Bars([]float64{0, 0.01, 4, 8, 9, math.NaN()}, 8); got != "·▁▅██ " {
		t.Errorf("bars %q", got)
	}
}
