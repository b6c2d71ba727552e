package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/forewarm/forewarm/pkg/agent/collect"
	"github.com/forewarm/forewarm/pkg/agent/history"
)

// errNothing is for a look that saw no GPU.
var errNothing = errors.New("no GPU was read")

// once takes two looks a second apart, as performance counters tell what was between two, and prints what they saw. The driver's
// buffers add some seconds of before.
func (p Program) once(ctx context.Context, o Options, stdout, stderr io.Writer) error {
	c, end, err := p.node(o, history.Hour{}, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	c.Step(ctx, time.Now())
	if picture := c.Board().Load(); picture.Fault == nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
		c.Step(ctx, time.Now())
	}
	picture := c.Board().Load()
	if o.JSON {
		out := json.NewEncoder(stdout)
		out.SetIndent("", "  ")
		err = out.Encode(picture)
	} else {
		err = table(stdout, picture)
	}
	if picture.PodsFault != nil {
		fmt.Fprintf(stderr, "forewarm-agent: which pod holds which GPU is not known: %v\n", picture.PodsFault)
	}
	return errors.Join(err, seen(picture), end(), p.Driver.Close())
}

// seen is why nothing was.
func seen(p *collect.Picture) error {
	if p.Fault != nil {
		return fmt.Errorf("%w: %s", errNothing, p.Fault.Message)
	}
	if len(p.GPUs) == 0 {
		return fmt.Errorf("%w: the driver answers, and lists none", errNothing)
	}
	return nil
}
