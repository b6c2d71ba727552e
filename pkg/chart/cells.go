package chart

import (
	"fmt"
	"math"
	"strings"
)

// Cells is a drawing in characters, of signs over two axes.
type Cells struct {
	x, y  Axis
	lines [][]rune // the first is the top
}

// NewCells returns an empty drawing of so many columns, the labels of the Y axis included, and lines.
func NewCells(x, y Axis, columns, lines int) *Cells {
	c := &Cells{x: x, y: y}
	for range lines {
		c.lines = append(c.lines, []rune(strings.Repeat(" ", columns-labels-2)))
	}
	return c
}

// labels is the width of the Y axis' labels.
const labels = 7

// Put puts a sign on a point.
func (c *Cells) Put(at Point, sign rune) { c.lines[c.line(at.Y)][c.column(at.X)] = sign }

// Rule draws a vertical line behind the signs.
func (c *Cells) Rule(x float64) {
	column := c.column(x)
	for _, line := range c.lines {
		if line[column] == ' ' {
			line[column] = '┊'
		}
	}
}

func (c *Cells) column(x float64) int { return clamped(c.x.At(x), len(c.lines[0])) }

func (c *Cells) line(y float64) int { return len(c.lines) - 1 - clamped(c.y.At(y), len(c.lines)) }

// clamped returns the cell of n that contains a share from 0 to 1.
func clamped(share float64, n int) int { return min(max(int(math.Round(share*float64(n-1))), 0), n-1) }

// String returns the drawing with its axes.
func (c *Cells) String() string {
	var out strings.Builder
	levels := make([]string, len(c.lines))
	for _, t := range c.y.Ticks {
		levels[c.line(t.Value)] = t.Label
	}
	for i, line := range c.lines {
		edge := "│"
		if levels[i] != "" {
			edge = "┤"
		}
		fmt.Fprintf(&out, "%*s %s%s\n", labels, levels[i], edge, strings.TrimRight(string(line), " "))
	}
	columns := len(c.lines[0])
	axis, text := []rune(strings.Repeat("─", columns)), []rune(strings.Repeat(" ", columns+2))
	for _, t := range c.x.Ticks {
		at := c.column(t.Value)
		axis[at] = '┴'
		// The label is under its tick, and within the chart at its ends.
		from := min(max(at-len(t.Label)/2+1, 0), len(text)-len(t.Label))
		copy(text[from:], []rune(t.Label))
	}
	indent := strings.Repeat(" ", labels+1)
	fmt.Fprintf(&out, "%s└%s\n%s%s\n", indent, string(axis), indent, strings.TrimRight(string(text), " "))
	return out.String()
}
