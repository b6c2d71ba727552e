// Package chart draws lines, steps, areas and points over two axes with round ticks, as SVG whose colours are the
// classes of one style sheet, or in the characters of a terminal.
//
//	Chart ──> SVG    a drawing in a page, stretched to its width (chart.svg, chart.css, palette.css)
//	      ──> Spark  its marks alone, small enough for a row of a table (spark.svg)
//	Sheet ──> SVG    a standalone picture: charts, legends and texts at given places (sheet.svg)
//	Bars, Curves, Cells   the same in characters
//
// A plot library has fixed colours and a fixed width; these drawings adapt to dark mode, phones and paper.
package chart
