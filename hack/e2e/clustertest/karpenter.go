package clustertest

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/forewarm/forewarm/hack/processtest"
)

const (
	karpenterNamespace = "karpenter"
	karpenterRelease   = "karpenter"
)

// Karpenter is a running Karpenter with its kwok provider. It listens on all addresses: it has no flag for one.
type Karpenter struct {
	*processtest.Process
	// URL of its metrics, without a path.
	URL string

	health  string
	program processtest.Program
	cluster *Cluster
}

// InstallKarpenterCRDs installs Karpenter's CRDs, and with them the CRD of CapacityBuffers.
func (c *Cluster) InstallKarpenterCRDs(ctx context.Context) error {
	for _, folder := range []string{"pkg/apis/crds", "kwok/apis/crds"} {
		path := filepath.Join(c.Components.KarpenterSource, filepath.FromSlash(folder))
		if _, err := c.Kubectl(ctx, "", "apply", "--server-side", "-f", path); err != nil {
			return err
		}
	}
	_, err := c.Kubectl(ctx, "", "wait", "--for=condition=Established", "crd", "--all",
		"--timeout="+startTimeout.String())
	return err
}

// StartKarpenter starts Karpenter with the rights of its own chart and a file of instance types.
func (c *Cluster) StartKarpenter(ctx context.Context, instanceTypes string, environment ...string) (*Karpenter, error) {
	if err := c.applyKarpenterRights(ctx); err != nil {
		return nil, err
	}
	kubeconfig, err := c.serviceAccountKubeconfig(ctx, karpenterNamespace, karpenterRelease)
	if err != nil {
		return nil, err
	}
	ports, err := processtest.FreePorts(ctx, 2)
	if err != nil {
		return nil, err
	}
	k := &Karpenter{
		cluster: c, URL: fmt.Sprintf("http://127.0.0.1:%d", ports[0]),
		health: fmt.Sprintf("http://127.0.0.1:%d/readyz", ports[1]),
	}
	k.program = processtest.Program{
		Name: "karpenter", Binary: filepath.Join(c.Components.Karpenter, "karpenter"),
		Env: append([]string{
			"KUBECONFIG=" + kubeconfig, "SYSTEM_NAMESPACE=" + karpenterNamespace, "DISABLE_LEADER_ELECTION=true",
			fmt.Sprintf("METRICS_PORT=%d", ports[0]), fmt.Sprintf("HEALTH_PROBE_PORT=%d", ports[1]),
			"INSTANCE_TYPES_FILE_PATH=" + instanceTypes,
		}, environment...),
	}
	err = k.Start(ctx)
	return k, err
}

// applyKarpenterRights applies the account and the roles of Karpenter's chart for kwok.
func (c *Cluster) applyKarpenterRights(ctx context.Context) error {
	chart := filepath.Join(c.Components.KarpenterSource, "kwok", "charts")
	args := []string{"template", karpenterRelease, chart, "--namespace", karpenterNamespace}
	for _, file := range []string{
		"serviceaccount", "role", "rolebinding", "clusterrole", "clusterrole-kwok", "aggregate-clusterrole",
	} {
		args = append(args, "--show-only", "templates/"+file+".yaml")
	}
	manifests, err := c.Helm(ctx, args...)
	if err != nil {
		return err
	}
	return c.Apply(ctx, fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n---\n%s",
		karpenterNamespace, manifests))
}

// Start starts it, also again after a Stop or Kill, at the same address. It returns when it has read the cluster.
func (k *Karpenter) Start(ctx context.Context) error {
	var err error
	if k.Process, err = k.cluster.Run(k.program); err != nil {
		return err
	}
	return k.AwaitHealthy(ctx, startTimeout, http.DefaultClient, k.health)
}
