package main

import (
	"fmt"
	"io"
	"math"
	"time"
)

// tables prints for people: a heading before the first row of its kind, and the aims last.
type tables struct {
	out     io.Writer
	heading string
	minutes []traceRow
}

func (t *tables) head(heading string) {
	if t.heading != heading {
		fmt.Fprintln(t.out, "\n"+heading)
		t.heading = heading
	}
}

func (t *tables) m4(row m4Row) error {
	t.head(fmt.Sprintf("%-40s %6s %6s %6s %6s  %9s %7s %13s\n%-40s %6s %6.3f %6.2f %6.3f  %9s %7.2f %13.4f",
		"M4 hourly", "series", "MASE", "sMAPE", "OWA", "cov 80/95", "MSIS95", "CPU s/series",
		"aim", "", 0.85, 11.5, 0.48, "±3/±2", 7.3, 0.15))
	_, err := fmt.Fprintf(t.out, "%-40s %6d %6.3f %6.2f %6.3f  %4.1f/%4.1f %7.2f %13.4f\n", modelLabel(row.Model),
		row.Series, row.MASE, row.SMAPE, row.OWA, 100*row.Coverage80, 100*row.Coverage95, row.MSIS95,
		row.CPUSecondsPerSeries)
	return err
}

func (t *tables) speed(row speedRow) error {
	t.head(fmt.Sprintf("%-50s %10s %10s %10s", "speed, mean CPU", "CPU", "aim", "R"))
	r, more := "", ""
	if row.r > 0 {
		r = roundDuration(row.r)
	}
	if row.online {
		more = fmt.Sprintf("  %.0f allocations a step, %.1f KB of state", row.allocation, float64(row.bytes)/1024)
	}
	_, err := fmt.Fprintf(t.out, "%-50s %10s %10v %10s%s\n", row.what, roundDuration(row.cpu), row.goal, r, more)
	return err
}

// roundDuration rounds a duration to about three digits.
func roundDuration(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}

func (t *tables) trace(row traceRow) error {
	t.head(fmt.Sprintf("%-51s %3s %9s  %24s  %24s\n%-51s %3s %9s  %7s %7s %8s  %7s %7s %8s",
		"", "", "MAE over", "P95 of the value", "P95 of the window peak",
		"traces, "+modelLabel(row.Model), "h", "last's", "/max5", "/max15", "coverage", "/max5", "/max15", "coverage"))
	if row.step == time.Minute {
		t.minutes = append(t.minutes, row)
	}
	return t.line(row.Name, row.Horizon, row.figures())
}

// figures are a row's in the order of the table.
func (r traceRow) figures() [7]float64 {
	return [7]float64{
		float64(r.MAERatioLast), float64(r.P95RatioMax5), float64(r.P95RatioMax15), float64(r.P95Coverage),
		r.window.ratioMax5, r.window.ratioMax15, r.window.coverage,
	}
}

func (t *tables) line(name string, horizon int, f [7]float64) error {
	_, err := fmt.Fprintf(t.out, "%-51s %3d %9.3f  %7.3f %7.3f %8.3f  %7.3f %7.3f %8.3f\n",
		name, horizon, f[0], f[1], f[2], f[3], f[4], f[5], f[6])
	return err
}

// tracesEnd prints the geometric means over the one-minute traces, and the aims for them.
func (t *tables) tracesEnd(string) error {
	sums, counts := map[int][7]float64{}, map[int]float64{}
	var horizons []int
	for _, row := range t.minutes {
		if counts[row.Horizon] == 0 {
			horizons = append(horizons, row.Horizon)
		}
		counts[row.Horizon]++
		sum := sums[row.Horizon]
		for i, v := range row.figures() {
			sum[i] += math.Log(v)
		}
		sums[row.Horizon] = sum
	}
	t.minutes = nil
	for _, h := range horizons {
		means := sums[h]
		for i := range means {
			means[i] = math.Exp(means[i] / counts[h])
		}
		if err := t.line(fmt.Sprintf("geometric mean of %v one-minute traces", counts[h]), h, means); err != nil {
			return err
		}
	}
	if len(horizons) > 0 {
		fmt.Fprint(t.out, aims)
	}
	return nil
}

// aims are the aims for the one-minute traces at each horizon; coverage and the worst error count for each trace.
const aims = `aim                                                   1 0.91, no trace above 1.03   coverage .94-.965
                                                      5      0.88    0.70    0.85
                                                     10      0.88    0.63    0.80
                                                     15      0.86    0.67    0.82
`

// modelLabel is the name of a row's model.
func modelLabel(model string) string {
	if model == "" {
		return defaultModel
	}
	return model
}
