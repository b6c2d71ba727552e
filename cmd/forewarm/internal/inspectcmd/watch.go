package inspectcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/inspectclient"
	inspect "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/printable"
)

// The pause between two reads of a watch is the shortest step of the Forecasts, within these bounds.
const (
	minPause = time.Second
	maxPause = 30 * time.Second
)

// watch prints what there is, and then what changes.
type watch struct {
	*options

	source        source
	out, messages io.Writer
	seen          map[string]line
	// widths are those of the columns so far: they only grow.
	widths []int
	said   string
}

// line is what was printed of an outlook: its cells without ages, and what tells a change.
type line struct {
	cells []string
	mark  string
}

// run reads until the context ends. An error of the first read ends it; a later one is reported once.
func (w *watch) run(ctx context.Context) error {
	pause := maxPause
	for first := true; ; first = false {
		list, now, err := w.source.read(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && (first || w.source.name == "" || !errors.Is(err, inspectclient.ErrNotFound)):
			if first {
				return err
			}
			w.report(err)
		default: // What was found before and is not any more is deleted.
			if list == nil {
				list = &inspect.OutlookList{}
			}
			w.said = ""
			if err := w.update(list.Items, now); err != nil {
				return err
			}
			pause = pauseOf(list.Items)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

func (w *watch) report(err error) {
	if err.Error() != w.said {
		w.said = err.Error()
		fmt.Fprintf(w.messages, "forewarm: %v; it tries again\n", err)
	}
}

// update prints what differs from before.
func (w *watch) update(outlooks []inspect.Outlook, now time.Time) error {
	wide := w.output.Is(cmdline.Wide)
	gone := w.seen
	w.seen = make(map[string]line, len(outlooks))
	var lines [][]string
	for i := range outlooks {
		o := &outlooks[i]
		key := o.Namespace + "/" + o.Name
		l := line{cells: cells(o, time.Time{}, wide)}
		l.mark = strings.Join(l.cells, "\t")
		if w.output.ForScripts() {
			text, err := json.Marshal(o)
			if err != nil {
				return err
			}
			l.mark = string(text)
		}
		before, known := gone[key]
		delete(gone, key)
		w.seen[key] = l
		if known && before.mark == l.mark {
			continue
		}
		lines = append(lines, cells(o, now, wide))
		if err := w.object(o); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(gone)) {
		l := gone[key].cells
		l[stateColumn] = "Deleted"
		lines = append(lines, l)
	}
	if !w.output.ForScripts() && !w.output.Is(cmdline.Name) {
		w.table(lines, wide)
	}
	return nil
}

// object prints an outlook that is new or has changed, where no table is wanted.
func (w *watch) object(o *inspect.Outlook) error {
	switch {
	case w.output.Is(cmdline.JSON):
		return w.output.Write(w.out, o)
	case w.output.Is(cmdline.YAML):
		fmt.Fprintln(w.out, "---")
		return w.output.Write(w.out, o)
	case w.output.Is(cmdline.Name):
		writeName(w.out, o)
	}
	return nil
}

// table writes lines below the earlier ones, the first below the heads.
func (w *watch) table(lines [][]string, wide bool) {
	if len(lines) > 0 && w.widths == nil {
		heads := columns
		if wide {
			heads = wideColumns
		}
		lines = slices.Insert(lines, 0, strings.Split(heads, "\t"))
		w.widths = make([]int, len(lines[0]))
	}
	for _, l := range lines {
		for i := range l {
			l[i] = printable.Line(l[i])
			w.widths[i] = max(w.widths[i], utf8.RuneCountInString(l[i]))
		}
	}
	for _, l := range lines {
		var text strings.Builder
		for i, cell := range l {
			fmt.Fprintf(&text, "%-*s   ", w.widths[i], cell)
		}
		fmt.Fprintln(w.out, strings.TrimRight(text.String(), " "))
	}
}

func pauseOf(outlooks []inspect.Outlook) time.Duration {
	pause := maxPause
	for i := range outlooks {
		if step := outlooks[i].Status.Step.Duration; step > 0 {
			pause = min(pause, step)
		}
	}
	return max(pause, minPause)
}
