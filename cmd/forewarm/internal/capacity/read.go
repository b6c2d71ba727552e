package capacity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/offline/capacity"
	"github.com/forewarm/forewarm/pkg/source/recorded"
)

// result has what was read, and the estimate.
type result struct {
	demand   recorded.History
	observed capacity.History
	estimate capacity.Estimate
	unit     string
	notes    []string
}

// read reads the three histories, on one grid.
func read(
	ctx context.Context, in io.Reader, from history.Options, asked queries, bar *cmdline.ProgressBar,
) (result, error) {
	r := result{unit: asked.unit}
	// stdin can be read only once, but its content is needed three times.
	var kept bytes.Buffer
	now := time.Now()
	one := func(in io.Reader, what, title string) (recorded.History, error) {
		if from.Trace != "" {
			from.Column = what
		} else {
			from.Query, from.QueryName = what, title
		}
		return history.Read(ctx, &from, in, now, bar)
	}
	var err error
	if r.demand, err = one(io.TeeReader(in, &kept), asked.demand, asked.title); err != nil {
		return r, fmt.Errorf("demand: %w", err)
	}
	if err = history.Doubtful(r.demand.Doubt); err != nil {
		return r, err
	}
	saturated, err := one(bytes.NewReader(kept.Bytes()), asked.saturated, "")
	if err != nil {
		return r, fmt.Errorf("saturation: %w%s", err, hint(err,
			"if the query has a comparison that was never true, such as … > 5, write … > bool 5, which returns 0 then"))
	}
	ready, err := one(bytes.NewReader(kept.Bytes()), asked.replicas, "")
	if err != nil {
		return r, fmt.Errorf("ready replicas: %w%s", err, hint(err,
			"check that kube-state-metrics is scraped, or set --replicas to your own query"))
	}
	r.observed = capacity.History{
		Step: r.demand.Step, Demand: r.demand.Values, Ready: ready.Values, Saturated: saturated.Values,
	}
	for what, h := range map[string]recorded.History{"demand": r.demand, "ready replicas": ready} {
		for _, note := range h.Notes {
			r.notes = append(r.notes, what+": "+note)
		}
	}
	return r, nil
}

// hint adds a text to an error that says that there is no series.
func hint(err error, text string) string {
	if errors.Is(err, series.ErrNoSeries) {
		return "; " + text
	}
	return ""
}
