package agent

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/forewarm/forewarm/pkg/agent/collect"
	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// writeTable prints a picture for people: the devices, then the pods on them.
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
			cmp.Or(index[pod.GPU], pod.GPU), cmp.Or(pod.Instance, "-"), percent(pod.Allocated, true),
			percent(pod.Busy.Value, pod.Busy.Known), percent(pod.Bandwidth.Value, pod.Bandwidth.Known))
	}
	return out.Flush()
}

// instanceName is a MIG instance's profile and id.
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
