// Package trace reads a recorded series from a CSV file, plain or gzipped, and plays it back as a history source.
//
// The first row names the columns. The first column is the time of each row: seconds (unix time, or from 0) or RFC
// 3339. The others are values; a blank one is a gap. Rows are in order of time and lie on one grid, whose step is the
// median distance between them; rows that are missing from the grid are gaps too. What is not so is an error that names
// its line.
package trace
