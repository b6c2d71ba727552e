// Package chart turns numbers into what people look at: lines, steps, areas and points over two axes with round marks, as
// SVG whose colours are the classes of one style sheet, or in the characters of a terminal.
//
//	Chart ──> SVG    a drawing in a page, which stretches it to its width (chart.svg, chart.css, palette.css)
//	Sheet ──> SVG    a picture of its own: charts, their legends and texts where they were put (sheet.svg)
//	Bars, Curves, Cells   the same in characters
//
// A library for plots draws with fixed colours and a fixed width; these follow a page into the dark, onto a telephone and
// onto paper.
package chart
