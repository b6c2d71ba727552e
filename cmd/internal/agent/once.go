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
)

// errNoGPU is returned by --once where no GPU was read.
var errNoGPU = errors.New("no GPU was read")

// once reads twice, a second apart, because performance counters measure between two readings, and prints the second
// picture. The driver's buffers add some seconds before it.
func (p Program) once(ctx context.Context, o Options, stdout, stderr io.Writer) error {
	c, end, err := p.newCollector(o, collect.Hour{}, slog.New(slog.DiscardHandler))
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
		err = writeTable(stdout, picture)
	}
	if picture.KubeletError != nil {
		fmt.Fprintf(stderr, "forewarm-agent: the pods of the GPUs are not known: %v\n", picture.KubeletError)
	}
	return errors.Join(err, checkRead(picture), end(), p.Driver.Close())
}

// checkRead returns why no GPU was read; nil where one was.
func checkRead(p *collect.Picture) error {
	if p.Fault != nil {
		return fmt.Errorf("%w: %s", errNoGPU, p.Fault.Message)
	}
	if len(p.GPUs) == 0 {
		return fmt.Errorf("%w: the driver lists none: check that this container may use the node's GPUs", errNoGPU)
	}
	return nil
}
