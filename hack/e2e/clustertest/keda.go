package clustertest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/forewarm/forewarm/hack/processtest"
)

// startKEDA starts KEDA's operator and its metrics server, which owns external.metrics.k8s.io, with the rights of
// KEDA's manifests. Its webhooks are left out.
func (c *Cluster) startKEDA(ctx context.Context) error {
	for _, folder := range []string{"general", "service_account", "crd", "rbac", "metrics-server"} {
		path := filepath.Join(c.Components.KEDASource, "config", folder)
		if _, err := c.Kubectl(ctx, "", "apply", "--server-side", "-k", path); err != nil {
			return err
		}
	}
	kubeconfig, err := c.serviceAccountKubeconfig(ctx, "keda", "keda-operator")
	if err != nil {
		return err
	}
	// Operator, metrics server and aggregator authenticate with these.
	certificates := filepath.Join(c.Dir, "keda")
	if err = c.writeCertificates(certificates, "keda", "keda-metrics-apiserver.keda.svc"); err != nil {
		return err
	}
	metrics, err := c.startOperator(ctx, kubeconfig, certificates)
	if err != nil {
		return err
	}
	port, err := c.startAdapter(ctx, kubeconfig, certificates, metrics)
	if err != nil {
		return err
	}
	const name = "v1beta1.external.metrics.k8s.io"
	const apiService = "apiservice/" + name
	if err = c.route(ctx, "keda", "keda-metrics-apiserver", port, name); err != nil {
		return err
	}
	if err = c.trust(ctx, apiService); err != nil {
		return err
	}
	_, err = c.Kubectl(ctx, "", "wait", apiService, "--for=condition=Available", "--timeout="+startTimeout.String())
	return err
}

// kedaEnvironment makes KEDA watch all namespaces, and sets its own, which it would read from its pod.
func kedaEnvironment(kubeconfig string) []string {
	return []string{"WATCH_NAMESPACE=", "KEDA_CLUSTER_OBJECT_NAMESPACE=keda", "KUBECONFIG=" + kubeconfig}
}

// startOperator returns the address at which it serves values to the metrics server.
func (c *Cluster) startOperator(ctx context.Context, kubeconfig, certificates string) (metrics string, err error) {
	ports, err := processtest.FreePorts(ctx, 3)
	if err != nil {
		return "", err
	}
	metrics = fmt.Sprintf("127.0.0.1:%d", ports[2])
	operator, err := c.Run(processtest.Program{
		Name: "keda-operator", Binary: filepath.Join(c.Components.KEDA, "keda-operator"),
		Env: kedaEnvironment(kubeconfig),
		Args: []string{
			"--cert-dir=" + certificates,
			"--zap-log-level=info",
			"--zap-encoder=console",
			"--zap-time-encoding=rfc3339",
			fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", ports[0]),
			fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", ports[1]),
			"--metrics-service-bind-address=" + metrics,
		},
	})
	if err != nil {
		return "", err
	}
	ready := fmt.Sprintf("http://127.0.0.1:%d/readyz", ports[0])
	return metrics, operator.AwaitHealthy(ctx, startTimeout, http.DefaultClient, ready)
}

// startAdapter returns the port on which the metrics server serves.
func (c *Cluster) startAdapter(ctx context.Context, kubeconfig, certificates, metrics string) (port int, err error) {
	if port, err = processtest.FreePort(ctx); err != nil {
		return 0, err
	}
	own, err := processtest.FreePort(ctx)
	if err != nil {
		return 0, err
	}
	_, err = c.Run(processtest.Program{
		Name:   "keda-adapter",
		Binary: filepath.Join(c.Components.KEDA, "keda-adapter"),
		Env:    kedaEnvironment(kubeconfig),
		Args: []string{
			"--kubeconfig=" + kubeconfig, "--lister-kubeconfig=" + kubeconfig,
			"--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
			"--metrics-service-address=" + metrics, "--cert-dir=" + certificates,
			"--bind-address=127.0.0.1", "--secure-port=" + strconv.Itoa(port), "--port=" + strconv.Itoa(own),
			"--tls-cert-file=" + filepath.Join(certificates, "tls.crt"),
			"--tls-private-key-file=" + filepath.Join(certificates, "tls.key"),
		},
	})
	return port, err
}

// writeCertificates writes ca.crt, tls.crt and tls.key of a Service into a folder.
func (c *Cluster) writeCertificates(dir, name, service string) error {
	issued, err := c.authority.issue(name+"-tls", name, nil, service)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write the certificates of %s: %w", name, err)
	}
	for from, to := range map[string]string{
		c.authority.file(): "ca.crt", issued.certificate: "tls.crt", issued.key: "tls.key",
	} {
		if err := os.Link(from, filepath.Join(dir, to)); err != nil {
			return fmt.Errorf("write the certificates of %s: %w", name, err)
		}
	}
	return nil
}

// ClientAuthentication is KEDA's certificate for Forewarm, which Forewarm's leader signs.
const ClientAuthentication = `
apiVersion: keda.sh/v1alpha1
kind: ClusterTriggerAuthentication
metadata: {name: forewarm}
spec:
  secretTargetRef:
    - {parameter: caCert, name: forewarm-client, key: ca.crt}
    - {parameter: tlsClientCert, name: forewarm-client, key: tls.crt}
    - {parameter: tlsClientKey, name: forewarm-client, key: tls.key}`
