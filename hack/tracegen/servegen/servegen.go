// Package servegen has the recorded request rate of a production language model: m-small of ServeGen (Xiang et al., 2025; Alibaba Cloud
// Model Studio), two weeks in steps of ten minutes.
//
// ServeGen (https://github.com/alibaba/ServeGen at commit f891d118, Apache License 2.0) publishes the rate of each client and the
// coefficient of variation of the times between its requests. m-small.csv.gz sums them up over the clients: the rate in requests a second,
// and the dispersion, which is the variance of the number of requests in a minute over its mean: the clients' squared coefficients,
// weighted by their rates. "go run ./hack/tracegen -servegen FOLDER" makes it again from a checkout.
package servegen

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed" // The recorded rate.
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed m-small.csv.gz
var recorded []byte

// Step is the distance between two windows.
const Step = 10 * time.Minute

// Window is ten minutes.
type Window struct {
	// Rate in requests a second. Dispersion is the variance of the number of requests in a minute over its mean.
	Rate, Dispersion float64
}

// Recorded returns the windows of m-small.
func Recorded() ([]Window, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(recorded))
	if err != nil {
		return nil, fmt.Errorf("servegen: %w", err)
	}
	var out []Window
	lines := bufio.NewScanner(unzipped)
	for lines.Scan() {
		numbers, err := parse(lines.Text(), 2)
		if err != nil {
			return nil, err
		}
		out = append(out, Window{numbers[0], numbers[1]})
	}
	return out, lines.Err()
}

// Sum adds up the clients of a model, in a folder with their chunk-N-trace.csv: a line for each window, with the time in seconds, the rate
// and the coefficient of variation.
func Sum(folder fs.FS) ([]Window, error) {
	names, err := fs.Glob(folder, "chunk-*-trace.csv")
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf(
			"servegen: no chunk-N-trace.csv in the folder, want data/language/m-small of ServeGen (%w)",
			err,
		)
	}
	sums := map[int]Window{}
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			numbers, err := parse(strings.TrimSpace(line), 3)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			at, rate, variation := int(numbers[0]), numbers[1], numbers[2]
			sums[at] = Window{sums[at].Rate + rate, sums[at].Dispersion + rate*variation*variation}
		}
	}
	var out []Window
	for _, at := range slices.Sorted(maps.Keys(sums)) {
		w := sums[at]
		if w.Rate > 0 {
			w.Dispersion /= w.Rate
		}
		out = append(out, w)
	}
	return out, nil
}

// Encode writes windows as Recorded reads them.
func Encode(all []Window) ([]byte, error) {
	var buffer bytes.Buffer
	zip, err := gzip.NewWriterLevel(&buffer, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		if _, err = fmt.Fprintf(zip, "%.3f,%.3f\n", w.Rate, w.Dispersion); err != nil {
			return nil, err
		}
	}
	err = zip.Close()
	return buffer.Bytes(), err
}

// parse returns the first numbers of a line.
func parse(line string, n int) ([]float64, error) {
	fields := strings.Split(line, ",")
	if len(fields) < n {
		return nil, fmt.Errorf("servegen: %q: want %d numbers", line, n)
	}
	out := make([]float64, n)
	for i := range out {
		var err error
		if out[i], err = strconv.ParseFloat(fields[i], 64); err != nil {
			return nil, fmt.Errorf("servegen: %q: %w", line, err)
		}
	}
	return out, nil
}
