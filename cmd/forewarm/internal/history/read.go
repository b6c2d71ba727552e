package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/source/recorded"
)

// Read reads the history; the options must be valid. A trace named Stdin is read from in. Where the range of a Prometheus
// has no end of its own it ends now.
func Read(
	ctx context.Context, o *Options, in io.Reader, now time.Time, bar *cmdline.ProgressBar,
) (recorded.History, error) {
	h, err := read(ctx, o, in, now, bar)
	if err != nil {
		return recorded.History{}, err
	}
	if h, err = recorded.Judged(h); err != nil {
		return recorded.History{}, err
	}
	if o.Trace != "" {
		bar.Say(h.Describe())
	}
	if o.TrustInput {
		h.Doubt = ""
	}
	return h, nil
}

func read(
	ctx context.Context, o *Options, in io.Reader, now time.Time, bar *cmdline.ProgressBar,
) (recorded.History, error) {
	if o.Trace != "" {
		return readTrace(ctx, o, in, bar)
	}
	end, err := o.end(now)
	if err != nil {
		return recorded.History{}, err
	}
	of := recorded.Range{
		Prometheus: o.Prometheus, Query: o.Query, Name: o.QueryName,
		Length: time.Duration(o.Range), Step: time.Duration(o.Step), End: end,
	}
	bar.Begin("reading the history", of.Points())
	defer bar.End()
	return of.Read(ctx, bar.Add)
}

// readTrace reads the file row by row. A large file therefore needs little memory if its rows are counted or aggregated to longer steps.
func readTrace(ctx context.Context, o *Options, in io.Reader, bar *cmdline.ProgressBar) (recorded.History, error) {
	of := recorded.Trace{Name: filepath.Base(o.Trace), Path: o.Trace, Column: o.Column}
	if o.Trace == Stdin {
		of.Name, of.Path = "stdin", ""
	}
	var err error
	if of.Options, err = o.traceOptions(); err != nil {
		return recorded.History{}, err
	}
	bar.Begin("reading "+of.Name, 1)
	defer bar.End()
	h, err := cmdline.UntilDone(ctx, of.Name, func() (h recorded.History, err error) {
		if o.Trace != Stdin {
			file, failed := os.Open(o.Trace)
			if failed != nil {
				return h, fmt.Errorf("trace: %w", failed)
			}
			defer func() { err = errors.Join(err, file.Close()) }()
			in = file
		}
		return of.Read(untilEnded{ctx, in})
	})
	bar.End()
	for _, note := range h.Notes {
		bar.Say(of.Name + ": " + note)
	}
	return h, err
}

// Doubtful is the error of what was computed of values that cannot be a demand; nil without a doubt.
func Doubtful(doubt string) error {
	if doubt == "" {
		return nil
	}
	return fmt.Errorf("%s If it is right, add --trust-input", doubt)
}

// untilEnded reads until the context ends.
type untilEnded struct {
	ctx  context.Context //nolint:containedctx // A reader has no other way.
	from io.Reader
}

// Read implements io.Reader.
func (u untilEnded) Read(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.from.Read(p)
}
