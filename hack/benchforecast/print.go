package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"
)

// printer prints rows as they are ready.
type printer interface {
	m4(row m4Row) error
	trace(row traceRow) error
	// tracesEnd comes after a model's last trace.
	tracesEnd(model string) error
	speed(row speedRow) error
}

// figure is a number that may not exist, as a ratio to 0 does not: null then, in JSON.
type figure float64

// MarshalJSON writes null for what is not finite.
func (f figure) MarshalJSON() ([]byte, error) {
	if v := float64(f); math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// lines prints a JSON object a line, for programs. Speed is for people.
type lines struct {
	out io.Writer
}

func (l lines) m4(row m4Row) error       { return json.NewEncoder(l.out).Encode(row) }
func (l lines) trace(row traceRow) error { return json.NewEncoder(l.out).Encode(row) }
func (lines) tracesEnd(string) error     { return nil }
func (lines) speed(speedRow) error       { return nil }

// tables prints for people; a heading comes before the first row of its kind.
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
	t.head(fmt.Sprintf("%-34s %6s %6s %6s %6s  %9s %7s %13s",
		"M4 hourly", "series", "MASE", "sMAPE", "OWA", "cov 80/95", "MSIS95", "CPU s/series"))
	_, err := fmt.Fprintf(
		t.out,
		"%-34s %6d %6.3f %6.2f %6.3f  %4.1f/%4.1f %7.2f %13.4f\n",
		named(row.Model),
		row.Series,
		row.MASE,
		row.SMAPE,
		row.OWA,
		100*row.Coverage80,
		100*row.Coverage95,
		row.MSIS95,
		row.CPUSecondsPerSeries,
	)
	return err
}

func (t *tables) speed(row speedRow) error {
	t.head(fmt.Sprintf("%-50s %10s %10s %10s", "speed", "CPU", "goal", "R"))
	r, more := "", ""
	if row.r > 0 {
		r = row.r.Round(10 * time.Microsecond).String()
	}
	if row.online {
		more = fmt.Sprintf("  %.0f allocations a step, %.1f KB of state", row.allocation, float64(row.bytes)/1024)
	}
	_, err := fmt.Fprintf(
		t.out,
		"%-50s %10v %10v %10s%s\n",
		row.what,
		row.cpu.Round(10*time.Nanosecond),
		row.goal,
		r,
		more,
	)
	return err
}

const traceFormat = "%-51s %3v %9.3f  %7.3f %7.3f %8.3f  %7.3f %7.3f %8.3f\n"

func (t *tables) trace(row traceRow) error {
	t.head(fmt.Sprintf("%-51s %3s %9s  %24s  %24s\n%-51s %3s %9s  %7s %7s %8s  %7s %7s %8s",
		"", "", "MAE over", "P95 of the value", "P95 of the window's max",
		"traces, "+named(row.Model), "h", "last's", "/max5", "/max15", "coverage", "/max5", "/max15", "coverage"))
	if row.step == time.Minute {
		t.minutes = append(t.minutes, row)
	}
	return t.line(row.Name, row)
}

func (t *tables) line(name string, row traceRow) error {
	_, err := fmt.Fprintf(t.out, traceFormat, name, row.Horizon, row.MAERatioLast, row.P95RatioMax5, row.P95RatioMax15,
		row.P95Coverage, row.window.ratioMax5, row.window.ratioMax15, row.window.coverage)
	return err
}

// tracesEnd prints the geometric means over the one-minute traces; of coverages the mean.
func (t *tables) tracesEnd(model string) error {
	defer func() { t.minutes = nil }()
	for i := 0; i < len(t.minutes) && t.minutes[i].Name == t.minutes[0].Name; i++ {
		h := t.minutes[i].Horizon
		mean := traceRow{Model: shown(model), Horizon: h}
		n := 0.0
		for _, row := range t.minutes {
			if row.Horizon != h {
				continue
			}
			n++
			mean.MAERatioLast += log(row.MAERatioLast)
			mean.P95RatioMax5 += log(row.P95RatioMax5)
			mean.P95RatioMax15 += log(row.P95RatioMax15)
			mean.P95Coverage += row.P95Coverage
			mean.window.ratioMax5 += math.Log(row.window.ratioMax5)
			mean.window.ratioMax15 += math.Log(row.window.ratioMax15)
			mean.window.coverage += row.window.coverage
		}
		mean.MAERatioLast = exp(mean.MAERatioLast, n)
		mean.P95RatioMax5, mean.P95RatioMax15 = exp(mean.P95RatioMax5, n), exp(mean.P95RatioMax15, n)
		mean.P95Coverage /= figure(n)
		mean.window.ratioMax5 = math.Exp(mean.window.ratioMax5 / n)
		mean.window.ratioMax15 = math.Exp(mean.window.ratioMax15 / n)
		mean.window.coverage /= n
		if err := t.line(fmt.Sprintf("one-minute traces (%v), geometric mean", n), mean); err != nil {
			return err
		}
	}
	return nil
}

func log(f figure) figure              { return figure(math.Log(float64(f))) }
func exp(sum figure, n float64) figure { return figure(math.Exp(float64(sum) / n)) }

// named is the model of a row in words.
func named(model string) string {
	if model == "" {
		return defaultModel
	}
	return model
}
