package chart_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/chart"
)

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
