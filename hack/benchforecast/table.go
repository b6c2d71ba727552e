package main

import (
	"fmt"
	"io"
	"math"
	"time"
)

// tables prints for people: a heading before the first row of its kind.
type tables struct {
	out     io.Writer
	heading string
	minutes []traceRow

	ablations []ablationRow
}

func (t *tables) head(heading string) {
	if t.heading != heading {
		fmt.Fprintln(t.out, "\n"+heading)
		t.heading = heading
	}
}

func (t *tables) score(row scoreRow) error {
	t.head(fmt.Sprintf("%s: %d windows of %d steps, season %d\n%-35s %7s %7s %7s %7s %7s  %9s %9s",
		row.Name, row.Series, row.Horizon, row.Season, "", "MASE", "(point)", "MSIS", "WQL", "OWA", "cov 80/95",
		"CPU s/fit"))
	if row.LeftOut != "" {
		_, err := fmt.Fprintf(t.out, "%-35s left out: %s\n", modelLabel(row.Model), row.LeftOut)
		return err
	}
	_, err := fmt.Fprintf(t.out, "%-35s %7.3f %7.3f %7.2f %7.4f %7.3f  %4.1f/%4.1f %9.3f\n", modelLabel(row.Model),
		row.MASE, row.MASEPoint, row.MSIS95, row.WQL, row.OWA, 100*row.Coverage80, 100*row.Coverage95, row.CPU)
	return err
}

func (t *tables) ablation(row ablationRow) error {
	t.head(fmt.Sprintf("%-50s %7s %7s %7s %9s", "auto without it: "+row.Name, "MASE", "MSIS", "WQL", "CPU s/fit"))
	_, err := fmt.Fprintf(t.out, "%-50s %+6.2f%% %+6.2f%% %+6.2f%% %+9.3f\n",
		row.Without, 100*row.MASE, 100*row.MSIS, 100*row.WQL, row.CPU)
	t.ablations = append(t.ablations, row)
	return err
}

// end prints the mean change over the sets of which a kind is a candidate.
func (t *tables) end() error {
	for _, row := range overSets(t.ablations) {
		if err := t.ablation(row); err != nil {
			return err
		}
	}
	return nil
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

// tracesEnd prints the geometric means over the one-minute traces.
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
	return nil
}

// modelLabel is the name of a row's model.
func modelLabel(model string) string {
	if model == "" {
		return defaultModel
	}
	return model
}
