package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/printable"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

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
