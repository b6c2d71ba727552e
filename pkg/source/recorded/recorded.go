// Package recorded reads the recorded history of a demand whole: a column of a trace, or a range of a Prometheus. Errors name the
// problem, its place and what to do. Values that were dropped are noted, as they may change a verdict.
package recorded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/printable"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

// History is the series that was read. It is on an even grid, its values are 0 or more, a gap is NaN, and it has at least one value.
type History struct {
	forecast.Series

	// Source names what was read: "load.csv, column requests", or a query and its server.
	Source string
	// Notes are sentences about what differs from the recording: values that cannot be demand, and gaps.
	Notes []string

	// Doubt says why the values cannot be demand, and what to do. It is empty if they may be demand.
	Doubt string
	// Merged is the number of rows that had the same time as another row. FromZero: the times are not dates. Assumed: the times have
	// no time zone, and UTC is assumed.
	Merged            int
	FromZero, Assumed bool
}

// errEmpty says that the series exists but has no values.
var errEmpty = errors.New("the history has no values")

// Trace says what to read of a trace.
type Trace struct {
	// Name of the file, for messages; Path to it, for commands in them.
	Name, Path string
	// Column is one of the value columns; empty if there is only one.
	Column string
	trace.Options
}

// Read reads a trace.
func (t Trace) Read(content io.Reader) (History, error) {
	read, err := t.ReadColumn(content, t.Column)
	if err != nil {
		return History{}, fmt.Errorf("%s: %w", t.Name, named{err, t.Path})
	}
	h := History{
		Series:   read.Series,
		Source:   t.Name,
		Notes:    read.Notes,
		Merged:   read.Merged,
		FromZero: read.FromZero,
		Assumed:  read.Assumed,
	}
	if read.Column != "" {
		h.Source += ", column " + read.Column
	}
	return h, nil
}

// named is an error whose text contains commands. In these, the path of the file is filled in.
type named struct {
	error

	path string
}

// Error implements error.
func (n named) Error() string {
	if n.path == "" {
		return n.error.Error()
	}
	return strings.ReplaceAll(
		n.error.Error(),
		" "+trace.FileName+" ",
		" '"+strings.ReplaceAll(n.path, "'", `'\''`)+"' ",
	)
}

// Unwrap returns what is wrong.
func (n named) Unwrap() error { return n.error }

// Judged returns the history with a note about its gaps, and a doubt if it cannot be a demand. The error says that it has no values.
func Judged(h History) (History, error) {
	if demand.ShapeOf(h.Values, h.Step) == demand.Counter && !comesBack(h) {
		h.Doubt = "The values are from a counter, which only grows, so they are not demand. Use its rate instead: sum(rate(…[2m]))."
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

// comesBack reports whether the values of the last day fall by about as much as they rise, and never fall to nearly nothing. A counter that
// restarts falls to nearly nothing instead.
func comesBack(h History) bool {
	const nearlyNothing, about = 0.1, 0.9
	newest := h.Values[max(0, h.Len()-int(demand.ShapeTime/h.Step)):]
	rises, falls, before := 0.0, 0.0, math.NaN()
	for _, v := range newest {
		switch {
		case math.IsNaN(v):
			continue
		case v > before:
			rises += v - before
		case v < before && v >= nearlyNothing*before:
			falls += before - v
		}
		before = v
	}
	return falls >= about*rises
}

// TooShort says that the history is too short for a verdict, and is empty if it is long enough. A week is the shortest history that
// shows whether a daily pattern repeats. A history that is mostly gaps counts as twice the length of its values.
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
	return "Too short to judge: the history covers " + FormatSpan(span) + ", and at least a week is needed."
}

// Describe says what was understood: "load.csv, column requests: 14 days from 2025-10-20 00:00 UTC, every minute, 20,160 values from 12
// to 940".
func (h History) Describe() string {
	text := fmt.Sprintf("%s: %s", printable.Line(h.Source), FormatSpan(time.Duration(h.Len())*h.Step))
	switch {
	case h.FromZero:
		text += " counted from " + humanize.Span(h.Start.Sub(time.Unix(0, 0)))
	case h.Start.UTC().Second() > 0:
		text += " from " + h.Start.UTC().Format(time.DateTime) + " UTC"
	default:
		text += " from " + h.Start.UTC().Format("2006-01-02 15:04") + " UTC"
	}
	if h.Assumed {
		text += " (the times have no time zone)"
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range h.Values {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	text += fmt.Sprintf(", %s, %s values", every(h.Step), humanize.Count(h.Observed()))
	if h.Observed() > 0 {
		text += fmt.Sprintf(" from %s to %s", plain(low), plain(high))
	}
	if gaps := h.Len() - h.Observed(); gaps > 0 {
		text += ", " + humanize.Plural(gaps, "gap")
	}
	if h.Merged > 0 {
		text += ", " + humanize.Plural(h.Merged, "row") + " with the same time as another row"
	}
	return text
}

// plain formats a number without an exponent.
func plain(v float64) string {
	if v >= 1e6 {
		return humanize.Amount(v)
	}
	return humanize.Number(v)
}

// every describes the interval between two steps.
func every(step time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		switch {
		case step == unit.length:
			return "every " + unit.name
		case step > unit.length && step%unit.length == 0:
			return fmt.Sprintf("every %d %ss", step/unit.length, unit.name)
		}
	}
	return "every " + humanize.Span(step)
}

// FormatSpan formats a duration in the largest unit of which it has at least two.
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

// pointsAtOnce is how many points one request covers: a day of minutes. A slow server can answer that even if it cannot answer two weeks,
// and the progress can be shown.
const pointsAtOnce = 1440

// Range is a range of a query of a Prometheus, in whole steps before an end.
type Range struct {
	Prometheus prometheus.Config
	// Query is PromQL. Name names it in messages; empty for the query itself.
	Query, Name  string
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
	h := History{Series: got, Source: fmt.Sprintf("%.200s at %s", cmp.Or(r.Name, r.Query), server)}
	if promexpr.IsAverage(r.Query) {
		h.Doubt = "The query is an average, which falls when replicas are added, so it is not demand. Write sum instead of avg."
	}
	var dropped series.Dropped
	for i, v := range h.Values {
		h.Values[i] = series.CleanSample(v, &dropped)
	}
	if dropped.Any() {
		h.Notes = append(h.Notes, dropped.String())
	}
	return h, nil
}

// onSteps returns the query of the range.
func (r *Range) onSteps() refresh.Query {
	to := time.Unix(0, r.End.UnixNano()/int64(r.Step)*int64(r.Step)).UTC()
	return refresh.Query{Expr: r.Query, From: to.Add(r.Step - r.Length.Truncate(r.Step)), To: to, Step: r.Step}
}

// explain adds how much was read. If the range was too much for the server, it also says what to do.
func (r *Range) explain(ctx context.Context, err error, read time.Duration) error {
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted after reading %s of %s of history: %w", FormatSpan(read),
			FormatSpan(r.Length), context.Cause(ctx))
	}
	slow := errors.Is(err, series.ErrUnavailable) && (read > 0 || errors.Is(err, prometheus.ErrTimeout))
	if !slow && !errors.Is(err, series.ErrTooLarge) {
		return err // If nothing was answered, or the query is wrong, a shorter range would not help.
	}
	const slower = "%s of %s of history were read, then the query failed: %w; if the server is slow, read less with a shorter " +
		"--range or a larger --step (now %s), or wait longer with --query-timeout (now %s)"
	return fmt.Errorf(slower, FormatSpan(read), FormatSpan(r.Length), err, model.Duration(r.Step), r.Prometheus.Timeout)
}
