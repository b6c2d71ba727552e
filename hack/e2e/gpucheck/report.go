//go:build cgo

package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// metrics are the agent's, by name.
type metrics map[string]*dto.MetricFamily

// read reads the agent's metrics.
func (c *check) read(ctx context.Context) (metrics, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.address+"/metrics", http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("read the agent: %w\n%s", err, c.agent.Tail())
	}
	defer response.Body.Close() //nolint:errcheck // Read only.
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(response.Body)
}

// cell is a share, a dash where the agent has no series.
func (m metrics) cell(name, pod string) string {
	for _, one := range m["forewarm_gpu_"+name].GetMetric() {
		of := ""
		for _, label := range one.GetLabel() {
			if label.GetName() == "pod" {
				of = label.GetValue()
			}
		}
		if of == pod {
			return share(one.GetGauge().GetValue())
		}
	}
	return "–"
}

func share(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) { // Its kind did not run alone.
		return "–"
	}
	return fmt.Sprintf("%.2f", v)
}

// describe prints what is checked.
func (c *check) describe(ctx context.Context) error {
	about, err := output(ctx, c.smi, "--id=0", "--format=csv,noheader",
		"--query-gpu=name,driver_version,mig.mode.current")
	if err != nil {
		return fmt.Errorf("ask nvidia-smi about the GPU: %w", err)
	}
	version, _ := output(ctx, c.binary, "--version") //nolint:errcheck // Then it is not told.
	fmt.Printf("GPU, driver, MIG: %s. Agent: %s. Window: %s.\n\n", about, version, window)
	return nil
}

const head = "| scenario | whose | load | by its own count | agent: busy | nvidia-smi | agent: bandwidth | tensor |\n" +
	"|---|---|---|--:|--:|--:|--:|--:|\n"

// print prints a scenario's rows: the GPU's, and one for each process.
func (c *check) print(s scenario, all []*process, of metrics, seen smiReading) {
	var sum float64
	rows := make([]string, len(all))
	for i, p := range all {
		own := p.did.Units / p.did.Seconds / c.alone[p.kind]
		if p.kind == nothing {
			own = 0 // It has no work to count.
		}
		sum += own
		whose, busy, bandwidth := p.pod, of.cell("pod_busy_ratio", p.pod), of.cell("pod_memory_bandwidth_ratio", p.pod)
		if p.pod == "" {
			whose, busy, bandwidth = "the node", "–", "–"
		}
		told := seen.processes[p.command.Process.Pid] / 100
		rows[i] = fmt.Sprintf("| | %s | %s, %.0f %% of the time | %s | %s | %s | %s | |\n",
			whose, p.kind, 100*p.share, share(own), busy, share(told), bandwidth)
	}
	server := ""
	if seen.server {
		server = "the MPS server is among the processes"
	}
	fmt.Printf("| %s | GPU | %s | %s | %s | %s | %s | %s |\n%s", s.name, server, share(sum), of.cell("busy_ratio", ""),
		share(seen.gpu/100), of.cell("memory_bandwidth_ratio", ""), of.cell("tensor_ratio", ""), strings.Join(rows, ""))
}

// cost prints what the agent cost.
func (c *check) cost() {
	used := c.agent.Usage()
	fmt.Printf("\nThe agent read once a second. Its CPU time: %s in %.0f s; its memory: %d MiB.\n",
		used.CPU, time.Since(c.began).Seconds(), used.Resident>>20)
}
