package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	inspect "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/kube/client"
)

// Limits of the pause between two reads of a watch. Within these, the pause is the shortest step of the Forecasts.
const (
	minPause = time.Second
	maxPause = 30 * time.Second
)

// watch prints all outlooks, and then the changes.
type watch struct {
	printer

	source   source
	messages io.Writer
	seen     map[string]inspect.Outlook
	failed   string
}

// run reads until the context ends. An error of the first read ends it; a later error is reported once.
func (w *watch) run(ctx context.Context) error {
	pause := maxPause
	for first := true; ; first = false {
		list, now, err := w.source.read(ctx)
		if !first && errors.Is(err, client.ErrNotFound) { // The object that the user specified was deleted.
			list, err = &inspect.OutlookList{}, nil
		}
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // It is what ends a watch.
		case err != nil && first:
			return err
		case err == nil:
			if err = w.update(list.Items, now); err != nil {
				return err
			}
			w.failed, pause = "", pauseOf(list.Items)
		case err.Error() != w.failed:
			w.failed = err.Error()
			fmt.Fprintf(w.messages, "forewarm: %v; trying again\n", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// update prints the outlooks that have changed. A deleted outlook is printed once more, as deleted.
func (w *watch) update(outlooks []inspect.Outlook, now time.Time) error {
	gone := w.seen
	w.seen = make(map[string]inspect.Outlook, len(outlooks))
	var changed []inspect.Outlook
	for i := range outlooks {
		key := outlooks[i].Namespace + "/" + outlooks[i].Name
		before, known := gone[key]
		if !known || w.differ(&before, &outlooks[i]) {
			changed = append(changed, outlooks[i])
		}
		delete(gone, key)
		w.seen[key] = outlooks[i]
	}
	for _, key := range slices.Sorted(maps.Keys(gone)) {
		o := gone[key]
		o.Status.State = "Deleted"
		changed = append(changed, o)
	}
	return w.print(changed, now)
}

// differ reports whether the output has changed. In a table, it does not count as a change that the data is older.
func (w *watch) differ(a, b *inspect.Outlook) bool {
	wide := w.output.Is(cmdline.Wide)
	if w.output.ForScripts() {
		return !reflect.DeepEqual(a, b)
	}
	return !slices.Equal(cells(a, time.Time{}, wide), cells(b, time.Time{}, wide))
}

// print prints each object for scripts, or a table.
func (w *watch) print(changed []inspect.Outlook, now time.Time) error {
	if !w.output.ForScripts() {
		return w.show(&inspect.OutlookList{Items: changed}, now, false)
	}
	for i := range changed {
		if w.output.Is(cmdline.YAML) {
			fmt.Fprintln(w.out, "---")
		}
		if err := w.output.Write(w.out, &changed[i]); err != nil {
			return err
		}
	}
	return nil
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
