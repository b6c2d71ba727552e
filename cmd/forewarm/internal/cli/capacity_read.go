package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/offline/capacity"
)

// report is what was read and what it comes to.
type capacityReport struct {
	demand   history.History
	observed capacity.History
	estimate capacity.Estimate
	unit     string
	notes    []string
}

// read reads the three histories, on one grid.
func (o *capacityOptions) read(ctx context.Context, in io.Reader, a queries, bar *cmdline.ProgressBar) (capacityReport, error) {
	r := capacityReport{unit: a.unit}
	// What comes on stdin comes once, and is read three times.
	var kept bytes.Buffer
	in = io.TeeReader(in, &kept)
	now := time.Now()
	var err error
	if r.demand, err = o.one(ctx, in, a.demand, now, bar); err != nil {
		return r, fmt.Errorf("demand: %w", err)
	}
	if a.title != "" { // A preset's query is longer than anyone reads.
		at := strings.LastIndex(r.demand.Source, " at ")
		r.demand.Source = a.title + r.demand.Source[max(at, 0):]
	}
	saturated, err := o.one(ctx, bytes.NewReader(kept.Bytes()), a.saturated, now, bar)
	if err != nil {
		return r, fmt.Errorf("saturation: %w%s", err, hint(err,
			"where the query compares, as in … > 5, and never held, compare with >= bool, which says 0 then"))
	}
	ready, err := o.one(ctx, bytes.NewReader(kept.Bytes()), a.replicas, now, bar)
	if err != nil {
		return r, fmt.Errorf("ready replicas: %w%s", err, hint(err,
			"is kube-state-metrics scraped? Else name a query of them with --replicas"))
	}
	r.observed = capacity.History{
		Step: r.demand.Step, Demand: r.demand.Values, Ready: ready.Values, Saturated: saturated.Values,
	}
	for what, h := range map[string]history.History{"demand": r.demand, "ready replicas": ready} {
		for _, note := range h.Notes {
			r.notes = append(r.notes, what+": "+note)
		}
	}
	return r, nil
}

// one reads a query, or a column.
func (o *capacityOptions) one(
	ctx context.Context, in io.Reader, what string, now time.Time, bar *cmdline.ProgressBar,
) (history.History, error) {
	of := o.history
	if of.Trace != "" {
		of.Column = what
	} else {
		of.Query = what
	}
	return of.Read(ctx, in, now, bar)
}

// hint is added to an error that says that there is no series.
func hint(err error, text string) string {
	if errors.Is(err, series.ErrNoSeries) {
		return "; " + text
	}
	return ""
}
