// Package recorded reads the recorded history of a demand whole: a column of a trace, or a range of a Prometheus. Errors name the
// problem, its place and what to do. Values that were dropped are noted, as they may change a verdict.
package recorded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

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

// Trace says what to read of a trace.
type Trace struct {
	// Name of the file, for messages.
	Name string
	// Column is one of the value columns; empty if there is only one.
	Column string
	trace.Options
}

// Read reads a trace, as bytes: its columns are known before one of them is chosen.
func (t Trace) Read(content []byte) (History, error) {
	columns, err := trace.Columns(bytes.NewReader(content))
	if err != nil {
		return History{}, fmt.Errorf("%s: %w", t.Name, err)
	}
	column := t.Column
	if column == "" {
		if len(columns) > 1 {
			return History{}, fmt.Errorf("%s has several value columns, choose one with --column: %.400s", t.Name,
				printable.Line(strings.Join(columns, ", ")))
		}
		column = columns[0]
	}
	read, err := t.ReadColumn(bytes.NewReader(content), column)
	if err != nil {
		return History{}, fmt.Errorf("%s: %w", t.Name, err)
	}
	return History{Series: read.Series, Source: t.Name + ", column " + column, Notes: read.Notes}, nil
}

// NoteGaps returns the history with a note about its gaps. The error says that it has no values.
func NoteGaps(h History) (History, error) {
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

// pointsAtOnce are asked for by one request: a day of minutes. A slow server answers that when it would not a fortnight,
// and how far the work is can be told.
const pointsAtOnce = 1440

// Range is a range of a query of a Prometheus, in whole steps before an end.
type Range struct {
	Prometheus   prometheus.Config
	Query        string
	Length, Step time.Duration
	End          time.Time
}

// Points is how many values are read.
func (r *Range) Points() int { return r.onSteps().Points() }

// Read reads the range in pieces, oldest first, and reports how many points each of them had. The range lies on whole steps since the
// epoch and ends with the last whole one.
func (r *Range) Read(ctx context.Context, progress func(points int)) (History, error) {
	source, err := prometheus.New(r.Prometheus)
	if err != nil {
		return History{}, err
	}
	defer source.Close()
	read := 0
	got, err := source.FetchInPieces(ctx, r.onSteps(), pointsAtOnce, func(points int) {
		read += points
		progress(points)
	})
	if err != nil {
		return History{}, r.explain(ctx, err, time.Duration(read)*r.Step)
	}
	server := prometheus.RedactedURL(r.Prometheus.URL)
	h := History{Series: got, Source: fmt.Sprintf("%.200s at %s", r.Query, server)}
	var dropped series.Dropped
	for i, v := range h.Values {
		h.Values[i] = series.CleanSample(v, &dropped)
	}
	if dropped.Any() {
		h.Notes = append(h.Notes, dropped.String())
	}
	return h, nil
}

// onSteps is the query of the range.
func (r *Range) onSteps() refresh.Query {
	to := time.Unix(0, r.End.UnixNano()/int64(r.Step)*int64(r.Step)).UTC()
	return refresh.Query{Expr: r.Query, From: to.Add(r.Step - r.Length.Truncate(r.Step)), To: to, Step: r.Step}
}

// explain adds how far the reading came, and what to do where more of it was too much for the server.
func (r *Range) explain(ctx context.Context, err error, read time.Duration) error {
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted after reading %s of %s of history: %w", FormatSpan(read),
			FormatSpan(r.Length), context.Cause(ctx))
	}
	slow := errors.Is(err, series.ErrUnavailable) && (read > 0 || errors.Is(err, prometheus.ErrTimeout))
	if !slow && !errors.Is(err, series.ErrTooLarge) {
		return err // Where nothing is answered at all, or the query is at fault, less of it would not help.
	}
	const slower = "%s of %s of history were read, then %w; if the server is slow, read less with a shorter --range " +
		"or a larger --step (now %s), or wait longer with --query-timeout (now %s)"
	return fmt.Errorf(slower, FormatSpan(read), FormatSpan(r.Length), err, model.Duration(r.Step), r.Prometheus.Timeout)
}
