package chart_test

import (
	"math"
	"strings"
	"testing"
	"time"

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
		{"of what is outside the axis only the neighbours are kept", func(c *chart.Chart) {
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

// rise is ten hours in which the demand rises from two replicas to eight; a fifth of the first hour of it waits, and one hour is not
// known.
func rise() chart.Strip {
	nan := math.NaN()
	return chart.Strip{
		Start: time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC), Long: 10 * time.Hour,
		Demand: []float64{2, 2, 2, 2, 8, 8, nan, 8, 8, 8},
		Late:   []float64{0, 0, 0, 0, .25, 0, 0, 0, 0, 0},
		Ready:  []float64{3, 3, 3, 3, 3, 9, 9, 9, 9, 9},
	}
}

func TestStrip(t *testing.T) {
	s := rise()
	drawn := s.Chart(10, 100)
	got := paths(t, drawn)[:3]
	want := []string{
		"demand: M0 800H1H2H3H4V200H5H6V1000H0zM7 200H8H9H10V1000H7z",
		"late: M4 200H5V400H4z",
		"ready: M0 700H1H2H3H4H5V100H6H7H8H9H10",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if svg, err := drawn.SVG(); err != nil || !strings.Contains(string(svg), `<path class="mark m2" d="M4.5 0v1"/>`) {
		t.Errorf("a quarter that is late is not marked: %v\n%s", err, svg)
	}
	if top := chart.Top(s); math.Abs(top-9.45) > 1e-9 {
		t.Errorf("the top is %v, want a little above nine ready replicas", top)
	}
	s.Paid = []float64{500, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	if top := chart.Top(s); math.Abs(top-25.2) > 1e-9 {
		t.Errorf("the top is %v, want three times the demand: a peak of what was paid for must not flatten it", top)
	}
	if top := chart.Top(chart.Strip{}); top != 1 {
		t.Errorf("the top of nothing is %v", top)
	}
}

func TestStripInCharacters(t *testing.T) {
	s := rise()
	want := strings.TrimPrefix(`
     10 ┤
      8 ┤          ━━━━━━━━━━
        │        ██░░  ░░░░░░
      6 ┤        ██░░  ░░░░░░
      4 ┤        ░░░░  ░░░░░░
        │━━━━━━━━━━░░  ░░░░░░
      2 ┤░░░░░░░░░░░░  ░░░░░░
      0 ┤░░░░░░░░░░░░  ░░░░░░
        └────┴───┴──┴───┴───┴
           08:010:12:014:16:00`, "\n")
	got := s.Text(10, 29, 8)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	empty := chart.Strip{}
	if text := empty.Text(1, 40, 8); strings.ContainsAny(text, "░█━") {
		t.Errorf("nothing is drawn as\n%s", text)
	}
}

func labels(all []chart.Tick) string {
	out := make([]string, len(all))
	for i, t := range all {
		out[i] = t.Label
	}
	return strings.Join(out, " ")
}

func TestClock(t *testing.T) {
	noon := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		from time.Duration
		to   time.Duration
		want string
	}{
		{"half an hour", -30 * time.Minute, 0, "11:35 11:40 11:45 11:50 11:55 12:00"},
		{"a day has the date at midnight", -24 * time.Hour, 0, "15:00 18:00 21:00 21 Nov 03:00 06:00 09:00 12:00"},
		{"a fortnight is marked to its end", -14 * 24 * time.Hour, 0, "9 Nov 11 Nov 13 Nov 15 Nov 17 Nov 19 Nov 21 Nov"},
	} {
		if got := labels(chart.ClockTicks(noon, c.from.Seconds(), c.to.Seconds())); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestRound(t *testing.T) {
	for _, c := range []struct {
		from, to float64
		want     string
	}{
		{0, 10, "0 2 4 6 8 10"},
		{0, 0.7, "0 0.2 0.4 0.6"},
		{0, 31000, "0 10k 20k 30k"},
		{3, 3, ""},
		{0, math.Inf(1), ""},
	} {
		if got := labels(chart.RoundTicks(c.from, c.to)); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.from, c.to, got, c.want)
		}
	}
}

func TestShares(t *testing.T) {
	got := chart.ShareTicks(0.0001, 1)
	want := []chart.Tick{{0.0001, "0.01%"}, {0.001, "0.1%"}, {0.01, "1%"}, {0.1, "10%"}, {1, "100%"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct {
		from, to float64
		want     string
	}{
		{0.001, 0.025, "0.1% 0.2% 0.5% 1% 2%"},
		{0.003, 0.004, ""},
		{0.00001, 0.0001, "0.001% 0.002% 0.005% 0.01%"},
	} {
		if shares := labels(chart.ShareTicks(c.from, c.to)); shares != c.want {
			t.Errorf("%v to %v: %s, want %s", c.from, c.to, shares, c.want)
		}
	}
}
