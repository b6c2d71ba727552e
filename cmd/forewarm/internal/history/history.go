package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/printable"
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
