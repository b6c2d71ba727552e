// Package history reads the history of a demand for a command: a column of a trace file, or a range of a Prometheus.
// Errors name the problem, its place and what to do. Values that were dropped are noted, as they may change a
// verdict.
package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/printable"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

// History is what was read: on an even grid, values 0 or more, NaN for a gap, never gaps alone.
type History struct {
	forecast.Series

	// Source names what was read: "load.csv, column requests", or a query and its server.
	Source string
	// Notes are sentences about what is not as it was recorded: values that cannot be demand, and gaps.
	Notes []string
}

// errEmpty says that there is a series and nothing in it.
var errEmpty = errors.New("it has no values")

// Read reads the history; the options must be valid. A trace named Stdin is read from in. Where the range of a Prometheus
// has no end of its own it ends now.
func (o *Options) Read(ctx context.Context, in io.Reader, now time.Time, bar *cmdline.ProgressBar) (History, error) {
	read := o.readTrace
	if o.Trace == "" {
		read = o.readPrometheus
	}
	h, err := read(ctx, in, now, bar)
	if err != nil {
		return History{}, err
	}
	gaps := h.Len() - h.Observed()
	switch {
	case gaps == h.Len():
		return History{}, fmt.Errorf("%s: %w", h.Source, errEmpty)
	case gaps > 0:
		h.Notes = append(h.Notes, fmt.Sprintf("%d of %d values are gaps", gaps, h.Len()))
	}
	return h, nil
}

// TooShort says that a history is too short for a verdict, and is empty where it is not. Of a pattern of days a week is the
// least that shows whether it comes again; what is mostly gaps counts for twice its values.
func (h History) TooShort() string {
	const week, tolerance = 7 * 24 * time.Hour, time.Hour // The first samples of a range may be missing.
	known := func(v float64) bool { return !math.IsNaN(v) }
	first, end := slices.IndexFunc(h.Values, known), h.Len()
	for end > first && !known(h.Values[end-1]) {
		end--
	}
	span := time.Duration(min(end-first, 2*h.Observed())) * h.Step
	if span >= week-tolerance {
		return ""
	}
	return "Too short to judge: " + FormatSpan(span) + ", want a week."
}

// Describe is a sentence about what was read.
func (h History) Describe() string {
	const minute = "2006-01-02 15:04"
	text := fmt.Sprintf("%s: %s in steps of %s", printable.Line(h.Source), FormatSpan(time.Duration(h.Len())*h.Step),
		FormatSpan(h.Step))
	if h.Start.Year() == 1970 { // Times that count from 0 are no dates.
		return text
	}
	return text + fmt.Sprintf(", %s to %s UTC", h.Start.UTC().Format(minute), h.End().UTC().Format(minute))
}

// FormatSpan is a duration as people write it: in the largest unit of which it has two or more.
func FormatSpan(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return humanize.Significant(d.Hours()/24, 3) + " days"
	case d >= 2*time.Hour:
		return humanize.Significant(d.Hours(), 3) + " hours"
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.3g minutes", d.Minutes())
	case d == time.Minute:
		return "a minute"
	}
	return fmt.Sprintf("%.3g s", d.Seconds())
}

// maxFile is the largest trace that is read, in bytes, packed or not.
const maxFile = 256 << 20

// readTrace reads the file whole: its columns are known before one of them is chosen, and stdin comes only once.
func (o *Options) readTrace(ctx context.Context, in io.Reader, _ time.Time, bar *cmdline.ProgressBar) (History, error) {
	name := filepath.Base(o.Trace)
	if o.Trace == Stdin {
		name = "stdin"
	}
	bar.Begin("reading "+name, 1)
	defer bar.End()
	content, err := o.content(ctx, in)
	if err != nil {
		return History{}, err
	}
	columns, err := trace.Columns(bytes.NewReader(content))
	if err != nil {
		return History{}, fmt.Errorf("%s: %w", name, err)
	}
	column := o.Column
	if column == "" {
		if len(columns) > 1 {
			return History{}, fmt.Errorf("%s has several value columns, choose one with --column: %.400s", name,
				printable.Line(strings.Join(columns, ", ")))
		}
		column = columns[0]
	}
	zone, err := o.zone()
	if err != nil {
		return History{}, err
	}
	read, err := trace.Options{
		Zone:     zone,
		Resample: time.Duration(o.Resample),
	}.ReadColumn(bytes.NewReader(content), column)
	if err != nil {
		return History{}, fmt.Errorf("%s: %w", name, err)
	}
	bar.End()
	for _, note := range read.Notes {
		bar.Say(name + ": " + note)
	}
	return History{Series: read.Series, Source: name + ", column " + column, Notes: read.Notes}, nil
}

// content is the whole of the trace.
func (o *Options) content(ctx context.Context, in io.Reader) (content []byte, err error) {
	if o.Trace == Stdin {
		content, err = cmdline.ReadFrom(ctx, in, "stdin", maxFile)
	} else {
		content, err = cmdline.ReadFile(ctx, o.Trace, maxFile)
	}
	switch {
	case errors.Is(err, cmdline.ErrTooLarge):
		return nil, fmt.Errorf("trace: %w, keep only the column that is needed, or use a coarser step", err)
	case err != nil:
		return nil, fmt.Errorf("trace: %w", err)
	}
	return content, nil
}

// pointsAtOnce are asked for by one request: a day of minutes. A slow server answers that when it would not a fortnight,
// and how far the work is can be told.
const pointsAtOnce = 1440

// readPrometheus reads the range in pieces, oldest first.
func (o *Options) readPrometheus(
	ctx context.Context, _ io.Reader, now time.Time, bar *cmdline.ProgressBar,
) (History, error) {
	query, err := o.rangeQuery(now)
	if err != nil {
		return History{}, err
	}
	source, err := prometheus.New(o.Prometheus)
	if err != nil {
		return History{}, err
	}
	defer source.Close()
	bar.Begin("reading the history", query.Points())
	defer bar.End()
	read := 0
	got, err := source.FetchInPieces(ctx, query, pointsAtOnce, func(points int) {
		read += points
		bar.Add(points)
	})
	if err != nil {
		return History{}, o.explain(ctx, err, time.Duration(read)*query.Step)
	}
	h := History{Series: got, Source: fmt.Sprintf("%.200s at %s", o.Query, o.server())}
	var dropped series.Dropped
	for i, v := range h.Values {
		h.Values[i] = series.CleanSample(v, &dropped)
	}
	if dropped.Any() {
		h.Notes = append(h.Notes, dropped.String())
	}
	return h, nil
}

// server is its address without the secrets that may stand in it.
func (o *Options) server() string { return prometheus.RedactedURL(o.Prometheus.URL) }

// rangeQuery lies on whole steps since the epoch and ends with the last whole one.
func (o *Options) rangeQuery(now time.Time) (refresh.Query, error) {
	end, err := o.end(now)
	if err != nil {
		return refresh.Query{}, err
	}
	step := time.Duration(o.Step)
	to := time.Unix(0, end.UnixNano()/int64(step)*int64(step)).UTC()
	whole := time.Duration(o.Range).Truncate(step)
	return refresh.Query{Expr: o.Query, From: to.Add(step - whole), To: to, Step: step}, nil
}

// explain adds how far the reading came, and what to do where more of it was too much for the server.
func (o *Options) explain(ctx context.Context, err error, read time.Duration) error {
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted after reading %s of %s of history: %w", FormatSpan(read),
			FormatSpan(time.Duration(o.Range)), context.Cause(ctx))
	}
	slow := errors.Is(err, series.ErrUnavailable) && (read > 0 || errors.Is(err, prometheus.ErrTimeout))
	if !slow && !errors.Is(err, series.ErrTooLarge) {
		return err // Where nothing is answered at all, or the query is at fault, less of it would not help.
	}
	return fmt.Errorf(
		"%s of %s of history were read, then %w; if the server is slow, read less with a shorter --range "+
			"or a larger --step (now %s), or wait longer with --query-timeout (now %s)", FormatSpan(read),
		FormatSpan(time.Duration(o.Range)), err, o.Step, o.Prometheus.Timeout,
	)
}
