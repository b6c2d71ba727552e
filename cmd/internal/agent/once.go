package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/forewarm/forewarm/pkg/agent/collect"
	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// errNoGPU is returned by --once if no GPU was read.
var errNoGPU = errors.New("no GPU was read")

// once reads twice, a second apart, because performance counters measure between two readings. It prints the second picture. The driver's
// buffers add some seconds of samples from before.
func (p Program) once(ctx context.Context, o Options, stdout, stderr io.Writer) error {
	c, end, err := p.newCollector(o, collect.Hour{}, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	c.Step(ctx, time.Now())
	if picture := c.Board().Load(); picture != nil && picture.Fault == nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
		c.Step(ctx, time.Now())
	}
	picture := c.Board().Load()
	if picture == nil { // Both steps panicked.
		err = fmt.Errorf("%w: the reading failed: run the agent without --once, and report its log", errNoGPU)
		return errors.Join(err, end(), p.Driver.Close())
	}
	if o.JSON {
		out := json.NewEncoder(stdout)
		out.SetIndent("", "  ")
		err = out.Encode(picture)
	} else {
		err = writeTable(stdout, picture)
	}
	if picture.KubeletError != nil {
		fmt.Fprintf(stderr, "forewarm-agent: cannot find out which pods use the GPUs: %v\n", picture.KubeletError)
	}
	return errors.Join(err, checkRead(picture), end(), p.Driver.Close())
}

// checkRead says why no GPU was read; nil if one was read.
func checkRead(p *collect.Picture) error {
	if p.Fault != nil {
		return fmt.Errorf("%w: %s", errNoGPU, p.Fault.Message)
	}
	if len(p.GPUs) == 0 {
		return fmt.Errorf(
			"%w: the driver lists no GPU: check that this container has access to the node's GPUs",
			errNoGPU,
		)
	}
	return nil
}

// writeTable prints a picture for people: the devices, and then the pods on them.
func writeTable(to io.Writer, p *collect.Picture) error {
	if len(p.GPUs) == 0 {
		return nil
	}
	out := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "driver %s, %s\n\n", p.Driver, p.Time.UTC().Format("2006-01-02 15:04:05 MST"))
	fmt.Fprintln(out, "GPU\tMIG\tMODEL\tBUSY\tMAX\tP95\tBANDWIDTH\tTENSOR\tMEMORY\tUUID")
	index := map[string]string{}
	for i := range p.GPUs {
		d := &p.GPUs[i]
		index[d.UUID] = strconv.Itoa(d.Index)
		if d.Fault != nil && d.Instance == "" {
			fmt.Fprintf(out, "%d\t-\t%s\t%s\t\t\t\t\t\t%s\n", d.Index, cmp.Or(d.Model, "-"), d.Fault.Reason, d.UUID)
			continue
		}
		fmt.Fprintf(out, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", d.Index, instanceName(d), d.Model, mean(d.Busy),
			percent(d.Busy.Max, d.Busy.Known), percent(d.Busy.P95, d.Busy.Known), mean(d.Bandwidth), mean(d.Tensor),
			memory(d.Memory), cmp.Or(d.InstanceUUID, d.UUID))
	}
	if len(p.Pods) > 0 {
		fmt.Fprintln(out, "\nNAMESPACE\tPOD\tCONTAINER\tGPU\tMIG\tALLOCATED\tBUSY\tBANDWIDTH")
	}
	for i := range p.Pods {
		pod := &p.Pods[i]
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", pod.Namespace, pod.Pod, pod.Name,
			cmp.Or(index[pod.GPU], pod.GPU), cmp.Or(pod.Instance, "-"), percent(pod.Allocated, pod.Allocated > 0),
			percent(pod.Busy.Value, pod.Busy.Known), percent(pod.Bandwidth.Value, pod.Bandwidth.Known))
	}
	return out.Flush()
}

// instanceName returns a MIG instance's profile and id.
func instanceName(d *collect.Device) string {
	if d.Instance == "" {
		return "-"
	}
	return d.Profile + " (" + d.Instance + ")"
}

func mean(s gpu.Summary) string { return percent(s.Mean, s.Known) }

func percent(share float64, known bool) string {
	if !known {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*share)
}

func memory(m gpu.Memory) string {
	if m.Total == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d MiB", m.Used>>20, m.Total>>20)
}
