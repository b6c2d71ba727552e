package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/source/recorded"
	"github.com/forewarm/forewarm/pkg/source/trace"
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
	return recorded.NoteGaps(h)
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
		Prometheus: o.Prometheus, Query: o.Query, Length: time.Duration(o.Range), Step: time.Duration(o.Step), End: end,
	}
	bar.Begin("reading the history", of.Points())
	defer bar.End()
	return of.Read(ctx, bar.Add)
}

// maxFile is the largest trace that is read, in bytes, packed or not.
const maxFile = 256 << 20

// readTrace reads the file whole: stdin comes only once.
func readTrace(ctx context.Context, o *Options, in io.Reader, bar *cmdline.ProgressBar) (recorded.History, error) {
	of := recorded.Trace{Name: filepath.Base(o.Trace), Column: o.Column}
	if o.Trace == Stdin {
		of.Name = "stdin"
	}
	zone, err := o.zone()
	if err != nil {
		return recorded.History{}, err
	}
	of.Options = trace.Options{Zone: zone, Resample: time.Duration(o.Resample)}
	bar.Begin("reading "+of.Name, 1)
	defer bar.End()
	var content []byte
	if o.Trace == Stdin {
		content, err = cmdline.ReadFrom(ctx, in, "stdin", maxFile)
	} else {
		content, err = cmdline.ReadFile(ctx, o.Trace, maxFile)
	}
	switch {
	case errors.Is(err, cmdline.ErrTooLarge):
		return recorded.History{}, fmt.Errorf("trace: %w, keep only the column that is needed, or use a coarser step",
			err)
	case err != nil:
		return recorded.History{}, fmt.Errorf("trace: %w", err)
	}
	h, err := of.Read(content)
	bar.End()
	for _, note := range h.Notes {
		bar.Say(of.Name + ": " + note)
	}
	return h, err
}
