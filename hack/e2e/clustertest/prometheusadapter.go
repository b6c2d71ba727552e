package clustertest

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/forewarm/forewarm/hack/processtest"
)

// externalMetrics is the APIService of External metrics, as prometheus-adapter's chart makes it.
const externalMetrics = `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.external.metrics.k8s.io}
spec:
  group: external.metrics.k8s.io
  version: v1beta1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {namespace: monitoring, name: prometheus-adapter, port: %d}
`

// PrometheusAdapter is a running prometheus-adapter.
type PrometheusAdapter struct {
	*processtest.Process
	URL string

	port    int
	program processtest.Program
	cluster *Cluster
}

// StartPrometheusAdapter runs prometheus-adapter with a file of rules over a Prometheus. It holds external.metrics.k8s.io.
func (c *Cluster) StartPrometheusAdapter(ctx context.Context, rules, prometheus string) (*PrometheusAdapter, error) {
	port, err := processtest.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	if err = c.applyPrometheusAdapter(ctx, port); err != nil {
		return nil, err
	}
	kubeconfig, err := c.serviceAccountKubeconfig(ctx, "monitoring", "prometheus-adapter")
	if err != nil {
		return nil, err
	}
	p := &PrometheusAdapter{cluster: c, URL: fmt.Sprintf("https://127.0.0.1:%d", port), port: port}
	p.program = processtest.Program{
		Name:   "prometheus-adapter",
		Binary: filepath.Join(c.Components.PrometheusAdapter, "prometheus-adapter"),
		Args: []string{
			"--config=" + rules,
			"--prometheus-url=" + prometheus,
			"--metrics-relist-interval=30s",
			"--metrics-max-age=1h",
			"--lister-kubeconfig=" + kubeconfig,
			"--authentication-kubeconfig=" + kubeconfig,
			"--authorization-kubeconfig=" + kubeconfig,
			"--bind-address=127.0.0.1",
			"--secure-port=" + strconv.Itoa(port),
			"--cert-dir=" + filepath.Join(c.Dir, "prometheus-adapter"),
		},
	}
	err = p.Start(ctx)
	return p, err
}

// applyPrometheusAdapter applies the account and the rights of its own manifests, and routes the API group to a port.
func (c *Cluster) applyPrometheusAdapter(ctx context.Context, port int) error {
	if _, err := c.Kubectl(ctx, "", "create", "namespace", "monitoring"); err != nil {
		return err
	}
	for _, name := range []string{
		"service-account", "service", "cluster-role", "cluster-role-binding", "cluster-role-binding-delegator", "role-binding-auth-reader",
	} {
		file := filepath.Join(c.Components.PrometheusAdapterSource, "deploy", "manifests", name+".yaml")
		if _, err := c.Kubectl(ctx, "", "apply", "--server-side", "-f", file); err != nil {
			return err
		}
	}
	if err := c.route(ctx, "monitoring", "prometheus-adapter", port); err != nil {
		return err
	}
	if c.KEDA { // It holds the group.
		return c.leadExternal(ctx, "monitoring", "prometheus-adapter", port)
	}
	return c.Apply(ctx, fmt.Sprintf(externalMetrics, port))
}

// Start starts it, also again after a Stop or Kill, at the same address. It returns when it has listed the series.
func (p *PrometheusAdapter) Start(ctx context.Context) error {
	client, err := p.cluster.Administrator()
	if err != nil {
		return err
	}
	if p.Process, err = p.cluster.Run(p.program); err != nil {
		return err
	}
	return p.AwaitHealthy(ctx, startTimeout, client, p.URL+"/apis/external.metrics.k8s.io/v1beta1")
}

// HandOver gives external.metrics.k8s.io to Forewarm, as an operator does: one patch names the other Service.
func (p *PrometheusAdapter) HandOver(ctx context.Context) error {
	return p.cluster.leadExternal(ctx, forewarmNamespace, forewarmService, p.cluster.forewarm.balancer.port)
}

// TakeBack gives it to prometheus-adapter again.
func (p *PrometheusAdapter) TakeBack(ctx context.Context) error {
	return p.cluster.leadExternal(ctx, "monitoring", "prometheus-adapter", p.port)
}

func (c *Cluster) leadExternal(ctx context.Context, namespace, name string, port int) error {
	return c.patch(ctx, "apiservice/v1beta1.external.metrics.k8s.io", fmt.Sprintf(
		`{"spec": {"insecureSkipTLSVerify": true, "caBundle": null, "service": {"namespace": %q, "name": %q, "port": %d}}}`,
		namespace,
		name,
		port,
	))
}
