package clustertest

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/forewarm/forewarm/hack/processtest"
)

// stages is kwok's configuration.
//
//go:embed nodes.yaml
var stages string

// GPUs is the number of GPUs of a cluster, in nodes of eight.
const (
	GPUs  = nodes * perNode
	nodes = 8
	// perNode is the number of GPUs of a node.
	perNode = 8
)

func (c *Cluster) startNodes(ctx context.Context) error {
	config := filepath.Join(c.Dir, "kwok.yaml")
	if err := os.WriteFile(config, []byte(stages), 0o600); err != nil {
		return fmt.Errorf("write kwok's configuration: %w", err)
	}
	port, err := processtest.FreePort(ctx)
	if err != nil {
		return err
	}
	p, err := c.Run(processtest.Program{Name: "kwok", Binary: filepath.Join(c.Components.Kwok, "kwok"), Args: []string{
		"--kubeconfig=" + c.Kubeconfig, "--config=" + config, fmt.Sprintf("--server-address=127.0.0.1:%d", port),
	}})
	if err != nil {
		return err
	}
	if c.Bare {
		return p.AwaitHealthy(ctx, startTimeout, http.DefaultClient, fmt.Sprintf("http://127.0.0.1:%d/healthz", port))
	}
	var manifests strings.Builder
	for i := range nodes {
		fmt.Fprintf(&manifests, `---
apiVersion: v1
kind: Node
metadata:
  name: gpu-%d
  labels: {nvidia.com/gpu.present: "true", kubernetes.io/hostname: gpu-%d}
status:
  capacity: {cpu: "64", memory: 512Gi, pods: "500", nvidia.com/gpu: "%d"}
  allocatable: {cpu: "64", memory: 512Gi, pods: "500", nvidia.com/gpu: "%d"}
`, i, i, perNode, perNode)
	}
	if _, err := c.Kubectl(ctx, manifests.String(), "create", "-f", "-"); err != nil {
		return err
	}
	return p.Await(ctx, startTimeout, func(ctx context.Context) error {
		ready, err := c.Kubectl(ctx, "", "get", "nodes", "-o",
			`jsonpath={range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}`)
		if err == nil && strings.Count(ready, "True") < nodes {
			err = fmt.Errorf("%d of %d nodes are ready", strings.Count(ready, "True"), nodes)
		}
		return err
	})
}
