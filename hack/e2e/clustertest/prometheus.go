package clustertest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"
)

// Prometheus is a running Prometheus.
type Prometheus struct {
	*processtest.Process
	URL string

	program processtest.Program
	cluster *Cluster
}

// StartPrometheus runs a Prometheus with a configuration, in which SELF stands for its own address, on data that may lie
// in its folder already.
func (c *Cluster) StartPrometheus(ctx context.Context, configuration string) (*Prometheus, error) {
	port, err := processtest.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	configuration = strings.ReplaceAll(configuration, "SELF", fmt.Sprintf("127.0.0.1:%d", port))
	file := filepath.Join(c.Dir, "prometheus.yaml")
	if err = os.WriteFile(file, []byte(configuration), 0o600); err != nil {
		return nil, fmt.Errorf("write Prometheus' configuration: %w", err)
	}
	p := &Prometheus{cluster: c, URL: fmt.Sprintf("http://127.0.0.1:%d", port), program: processtest.Program{
		Name: "prometheus", Binary: c.Components.Prometheus, Args: []string{
			"--config.file=" + file, "--storage.tsdb.path=" + c.PrometheusData(),
			"--storage.tsdb.retention.time=60d", fmt.Sprintf("--web.listen-address=127.0.0.1:%d", port),
		},
	}}
	err = p.Start(ctx)
	return p, err
}

// PrometheusData is the folder of its blocks.
func (c *Cluster) PrometheusData() string { return filepath.Join(c.Dir, "prometheus") }

// WriteSeries writes series with a sample at every step from a time on, which may reach ahead, into the data of a Prometheus that is
// not started yet. NaN is no sample.
func (c *Cluster) WriteSeries(
	ctx context.Context, from time.Time, step time.Duration, series map[string][]float64,
) error {
	text := new(bytes.Buffer)
	for name, values := range series {
		for i, v := range values {
			if !math.IsNaN(v) {
				at := from.Add(time.Duration(i) * step)
				fmt.Fprintf(text, "%s %g %.3f\n", name, v, float64(at.UnixMilli())/1000)
			}
		}
	}
	text.WriteString("# EOF\n")
	file := filepath.Join(c.Dir, "series.om")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write series: %w", err)
	}
	_, err := runCommand(ctx, c.Dir, "promtool", "tsdb", "create-blocks-from", "openmetrics", file, c.PrometheusData())
	return err
}

// Start starts it, also again after a Stop or Kill, at the same address.
func (p *Prometheus) Start(ctx context.Context) error {
	var err error
	if p.Process, err = p.cluster.Run(p.program); err != nil {
		return err
	}
	return p.AwaitHealthy(ctx, startTimeout, http.DefaultClient, p.URL+"/-/ready")
}
