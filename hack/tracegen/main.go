package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/forewarm/forewarm/hack/tracegen/measure"
	"github.com/forewarm/forewarm/hack/tracegen/synth"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tracegen:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("tracegen", flag.ContinueOnError)
	out := flags.String("out", filepath.Join("testdata", "traces"), "folder to write the traces to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return printStats(flags.Args(), stdout)
	}
	return writeTraces(*out, stdout)
}

// writeTraces writes every trace.
func writeTraces(folder string, stdout io.Writer) error {
	for _, t := range traces() {
		data, err := encode(t.column, t.digits, synth.Generate(t.shape))
		if err != nil {
			return err
		}
		path := filepath.Join(folder, t.file)
		if err := os.WriteFile(path, data, 0o644); err != nil { //nolint:gosec // Meant to be read by all.
			return err
		}
		fmt.Fprintf(stdout, "%s: %d bytes\n", path, len(data))
	}
	return nil
}

// printStats prints the statistics of each file, in one row.
func printStats(paths []string, stdout io.Writer) error {
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "days\tmean\tcv\tday\t1 min\t1 h\t1 d\t7 d\tnoise\tdispersion\tburst\tshift\tgap\t trace\t")
	for _, path := range paths {
		series, err := readTrace(path)
		if err != nil {
			return err
		}
		s := measure.Measure(series)
		fmt.Fprintf(table, "%.1f\t%.4g\t%.2f\t%.2f\t%.3f\t%.2f\t%.2f\t%.2f\t%.3f\t%.1f\t%.2f\t%.2f\t%s\t %s\t\n",
			s.Days, s.Mean, s.CV, s.Day, s.Minute, s.Hour, s.NextDay, s.NextWeek, s.Noise, s.Dispersion, s.Burst,
			s.Shift, s.Gap.Round(time.Second), filepath.Base(path))
	}
	return table.Flush()
}
