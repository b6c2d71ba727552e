package clustertest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

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

// Start starts it, also again after a Stop or Kill, at the same address.
func (p *Prometheus) Start(ctx context.Context) error {
	var err error
	if p.Process, err = p.cluster.run(p.program); err != nil {
		return err
	}
	return p.AwaitHealthy(ctx, startTimeout, http.DefaultClient, p.URL+"/-/ready")
}
