package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"
)

// printer prints rows as they are ready.
type printer interface {
	score(row scoreRow) error
	ablation(row ablationRow) error
	trace(row traceRow) error
	// tracesEnd comes after a model's last trace.
	tracesEnd(model string) error
}

// figure is a number that may be undefined, such as a ratio to 0; it is null in JSON then.
type figure float64

// MarshalJSON writes null for a number that is not finite.
func (f figure) MarshalJSON() ([]byte, error) {
	if v := float64(f); math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// lines prints one JSON object on each line, for programs.
type lines struct {
	out io.Writer
}

func (l lines) score(row scoreRow) error       { return json.NewEncoder(l.out).Encode(row) }
func (l lines) ablation(row ablationRow) error { return json.NewEncoder(l.out).Encode(row) }
func (l lines) trace(row traceRow) error       { return json.NewEncoder(l.out).Encode(row) }
func (lines) tracesEnd(string) error           { return nil }

// tables prints for people: a heading before the first row of its kind.
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

func (t *tables) score(row scoreRow) error {
	t.head(fmt.Sprintf("%s: %d windows of %d steps, season %d\n%42s %7s %7s %7s %7s  %9s %9s", row.Name, row.Series,
		row.Horizon, row.Season, "MASE", "(point)", "MSIS", "WQL", "OWA", "cov 80/95", "CPU s/fit"))
	model := cmp.Or(row.Model, defaultModel)
	if row.LeftOut != "" {
		_, err := fmt.Fprintf(t.out, "%-34s left out: %s\n", model, row.LeftOut)
		return err
	}
	_, err := fmt.Fprintf(t.out, "%-34s %7.3f %7.3f %7.2f %7.4f %7.3f  %4.1f/%4.1f %9.3f\n", model, row.MASE,
		row.MASEPoint, row.MSIS95, row.WQL, row.OWA, 100*row.Coverage80, 100*row.Coverage95, row.CPU)
	return err
}

func (t *tables) ablation(row ablationRow) error {
	t.head(fmt.Sprintf("%-50s %7s %7s %7s %7s %9s", "without "+row.Name, "MASE", "point", "MSIS", "WQL", "CPU s/fit"))
	_, err := fmt.Fprintf(t.out, "%-50s %+6.2f%% %+6.2f%% %+6.2f%% %+6.2f%% %+9.3f\n",
		row.Without, 100*row.MASE, 100*row.Point, 100*row.MSIS, 100*row.WQL, row.CPU)
	return err
}

func (t *tables) trace(row traceRow) error {
	t.head(fmt.Sprintf("%-51s %3s %9s  %24s  %24s\n%-51s %3s %9s  %7s %7s %8s  %7s %7s %8s",
		"", "", "MAE over", "P95 of the value", "P95 of the window peak",
		"traces, "+cmp.Or(row.Model, defaultModel), "h", "last's",
		"/max5", "/max15", "coverage", "/max5", "/max15", "coverage"))
	if row.step == time.Minute {
		t.minutes = append(t.minutes, row)
	}
	return t.line(row.Name, row.Horizon, row.figures())
}

// figures are a row's in the order of the table.
func (r traceRow) figures() [7]figure {
	return [7]figure{r.MAERatioLast, r.P95RatioMax5, r.P95RatioMax15, r.P95Coverage, r.peak[0], r.peak[1], r.peak[2]}
}

func (t *tables) line(name string, horizon int, f [7]figure) error {
	_, err := fmt.Fprintf(t.out, "%-51s %3d %9.3f  %7.3f %7.3f %8.3f  %7.3f %7.3f %8.3f\n",
		name, horizon, f[0], f[1], f[2], f[3], f[4], f[5], f[6])
	return err
}

// tracesEnd prints the geometric means over the one-minute traces.
func (t *tables) tracesEnd(string) error {
	sums, counts := map[int][7]figure{}, map[int]figure{}
	var horizons []int
	for _, row := range t.minutes {
		if counts[row.Horizon] == 0 {
			horizons = append(horizons, row.Horizon)
		}
		counts[row.Horizon]++
		sum := sums[row.Horizon]
		for i, v := range row.figures() {
			sum[i] += figure(math.Log(float64(v)))
		}
		sums[row.Horizon] = sum
	}
	t.minutes = nil
	for _, h := range horizons {
		means := sums[h]
		for i := range means {
			means[i] = figure(math.Exp(float64(means[i] / counts[h])))
		}
		if err := t.line(fmt.Sprintf("geometric mean of %v one-minute traces", counts[h]), h, means); err != nil {
			return err
		}
	}
	return nil
}
