package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/forewarm/forewarm/pkg/simulate/compare"
	"github.com/forewarm/forewarm/pkg/ticks"
)

const (
	scatterHeight = 16
	// scatterLabels is what the numbers of the vertical axis take.
	scatterLabels = 7
	// mostScatter is a width beyond which the chart gains nothing.
	mostScatter = 100
)

// scatter is a chart in characters, its first line the top.
type scatter struct {
	plane
	cells [][]rune
}

// writeScatter draws the cost against the lateness: a capital for each policy, small letters for its other settings.
func writeScatter(out *bytes.Buffer, c *compare.Comparison, width int) {
	on, ok := newPlane(c)
	if !ok {
		return
	}
	s := newScatter(on, min(width, mostScatter)-scatterLabels-2)
	s.draw(c)
	out.WriteByte('\n')
	paragraph(out, "Cost over demand, upwards, against the share that was late, to the right", width)
	s.write(out)
	paragraph(out, key(c), width)
}

func newScatter(on plane, width int) scatter {
	s := scatter{plane: on}
	for range scatterHeight {
		s.cells = append(s.cells, []rune(strings.Repeat(" ", width)))
	}
	return s
}

// draw puts what matters most on last: the policies over the objective over the other settings.
func (s *scatter) draw(c *compare.Comparison) {
	for i := range c.Policies {
		letter, _ := utf8.DecodeRuneInString(strings.ToLower(mark(c.Policies[i].Name)))
		for _, at := range c.Policies[i].Frontier {
			s.put(at, letter)
		}
	}
	column := s.column(c.Assumptions.Objective)
	for i := range s.cells {
		if s.cells[i][column] == ' ' {
			s.cells[i][column] = '┊'
		}
	}
	for i := range c.Policies {
		p := &c.Policies[i]
		letter, _ := utf8.DecodeRuneInString(mark(p.Name))
		s.put(compare.Point{Late: p.Report.LateShare(), Cost: p.Report.Cost()}, letter)
	}
}

func (s *scatter) put(at compare.Point, sign rune) {
	if s.holds(at) {
		s.cells[s.line(at.Cost)][s.column(at.Late)] = sign
	}
}

func (s *scatter) column(late float64) int { return clamped(s.x(late), len(s.cells[0])) }

func (s *scatter) line(cost float64) int { return len(s.cells) - 1 - clamped(s.y(cost), len(s.cells)) }

// clamped is the cell of n in which a share from 0 to 1 lies.
func clamped(share float64, n int) int { return min(max(int(math.Round(share*float64(n-1))), 0), n-1) }

func (s *scatter) write(out *bytes.Buffer) {
	labels := make([]string, len(s.cells))
	for _, t := range ticks.Round(s.low, s.high) {
		labels[s.line(t.Value)] = t.Label
	}
	for i, line := range s.cells {
		edge := "│"
		if labels[i] != "" {
			edge = "┤"
		}
		fmt.Fprintf(out, "%*s %s%s\n", scatterLabels, labels[i], edge, strings.TrimRight(string(line), " "))
	}
	axis := []rune(strings.Repeat("─", len(s.cells[0])))
	text := []rune(strings.Repeat(" ", len(s.cells[0])+2))
	for _, t := range s.shares() {
		at := s.column(t.Value)
		axis[at] = '┴'
		// The label stands under its mark, and within the chart at its ends.
		from := min(max(at-len(t.Label)/2+1, 0), len(text)-len(t.Label))
		copy(text[from:], []rune(t.Label))
	}
	indent := strings.Repeat(" ", scatterLabels+1)
	fmt.Fprintf(out, "%s└%s\n%s%s\n", indent, string(axis), indent, strings.TrimRight(string(text), " "))
}

// key names the letters.
func key(c *compare.Comparison) string {
	parts := make([]string, 0, len(c.Policies)+2)
	for i := range c.Policies {
		name := c.Policies[i].Name
		parts = append(parts, mark(name)+" "+name)
	}
	return strings.Join(parts, ", ") + "; in small letters, their other settings; ┊ the objective."
}
