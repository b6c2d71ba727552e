package clustertest

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/forewarm/forewarm/hack/processtest"
)

// CoschedulingName is the scheduler's name to pods.
const CoschedulingName = "scheduler-plugins-scheduler"

// StartCoscheduling starts a second kube-scheduler, with coscheduling: its CRD, its configuration and the rights of its chart.
func (c *Cluster) StartCoscheduling(ctx context.Context) error {
	const namespace = "scheduler-plugins"
	manifests := filepath.Join(c.Components.CoschedulingSource, "manifests")
	chart := filepath.Join(manifests, "install", "charts", "as-a-second-scheduler")
	rights, err := c.Helm(ctx, "template", namespace, chart, "--namespace", namespace,
		"--show-only", "templates/serviceaccount.yaml", "--show-only", "templates/rbac.yaml")
	if err != nil {
		return err
	}
	crd, err := os.ReadFile(filepath.Join(manifests, "coscheduling", "crd.yaml"))
	if err != nil {
		return err
	}
	const all = "apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n---\n%s\n%s"
	if err = c.Apply(ctx, fmt.Sprintf(all, namespace, rights, crd)); err != nil {
		return err
	}
	kubeconfig, err := c.serviceAccountKubeconfig(ctx, namespace, CoschedulingName)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(manifests, "coscheduling", "scheduler-config.yaml"))
	if err != nil {
		return err
	}
	config := filepath.Join(c.Dir, "coscheduling.yaml")
	own := strings.NewReplacer("REPLACE_ME_WITH_KUBE_CONFIG_PATH", kubeconfig, "default-scheduler", CoschedulingName)
	if err = os.WriteFile(config, []byte(own.Replace(string(text))), 0o600); err != nil {
		return err
	}
	_, err = c.startProbed(ctx, processtest.Program{
		Name: "coscheduling", Binary: filepath.Join(c.Components.Coscheduling, "kube-scheduler"),
		Args: []string{
			"--config=" + config, "--bind-address=127.0.0.1", "--authentication-kubeconfig=" + kubeconfig,
			"--authorization-kubeconfig=" + kubeconfig,
		},
	}, "--secure-port=%d", "https://127.0.0.1:%d/healthz")
	return err
}

// startProbed starts a program with a free port in a flag, and returns when it is healthy there.
func (c *Cluster) startProbed(
	ctx context.Context, program processtest.Program, flag, url string,
) (*processtest.Process, error) {
	port, err := processtest.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	program.Args = append(program.Args, fmt.Sprintf(flag, port))
	p, err := c.Run(program)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: Unverified(), DisableKeepAlives: true}}
	err = p.AwaitHealthy(ctx, startTimeout, client, fmt.Sprintf(url, port))
	return p, err
}

// controllerConfig is the beginning of the configuration of Kueue's controller and of LeaderWorkerSet's.
const controllerConfig = `
apiVersion: %s
kind: Configuration
health: {healthProbeBindAddress: "127.0.0.1:%d"}
metrics: {bindAddress: "0"}
webhook: {host: 127.0.0.1, port: %d, certDir: %s}
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
`

// startController installs a controller by the manifests of its module, but for its pods its own process, with a port for its webhooks.
// It returns when the controller is ready. version is the apiVersion of its configuration, to which further is added.
func (c *Cluster) startController(
	ctx context.Context, binary, source, version, further string,
) (*processtest.Process, error) {
	ports, err := processtest.FreePorts(ctx, 2)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(binary)
	kubeconfig, err := c.installController(ctx, name, source, ports[0])
	if err != nil {
		return nil, err
	}
	certificates := filepath.Join(c.Dir, fmt.Sprintf("%s-%d", name, ports[0]))
	if err = c.writeCertificates(certificates, name, name+"-webhook-service."+name+"-system.svc"); err != nil {
		return nil, err
	}
	config := filepath.Join(certificates, "config.yaml")
	text := fmt.Appendf(nil, controllerConfig+further, version, ports[1], ports[0], certificates)
	if err = os.WriteFile(config, text, 0o600); err != nil {
		return nil, err
	}
	program := processtest.Program{
		Name: name, Binary: binary, Env: []string{"KUBECONFIG=" + kubeconfig}, Args: []string{"--config=" + config},
	}
	if name == "kueue" {
		program = withCertificatesForMetrics(program, certificates)
	}
	p, err := c.Run(program)
	if err != nil {
		return nil, err
	}
	err = p.AwaitHealthy(ctx, startTimeout, http.DefaultClient, fmt.Sprintf("http://127.0.0.1:%d/readyz", ports[1]))
	return p, err
}

// webhookPort is 443, or the port of an earlier process.
var webhookPort = regexp.MustCompile(`"port": \d+`)

// installController applies a controller's manifests. Its webhooks are at a port of this machine, with certificates of the cluster's
// authority. It returns the kubeconfig of its service account.
func (c *Cluster) installController(ctx context.Context, name, source string, port int) (string, error) {
	namespace := name + "-system"
	folder := filepath.Join(source, "config", "default")
	if _, err := c.Kubectl(ctx, "", "apply", "--server-side", "--force-conflicts", "-k", folder); err != nil {
		return "", err
	}
	const client = `"clientConfig": {`
	trusted := fmt.Sprintf(client+`"caBundle": %q,`, base64.StdEncoding.EncodeToString(c.authority.pem))
	for _, kind := range []string{"mutating", "validating"} {
		object := kind + "webhookconfiguration/" + name + "-" + kind + "-webhook-configuration"
		text, err := c.Kubectl(ctx, "", "get", object, "-o", "json")
		if err != nil {
			return "", err
		}
		text = webhookPort.ReplaceAllString(strings.ReplaceAll(text, client, trusted), fmt.Sprintf(`"port": %d`, port))
		if _, err = c.Kubectl(ctx, text, "replace", "-f", "-"); err != nil {
			return "", err
		}
	}
	if err := c.route(ctx, namespace, name+"-webhook-service", port); err != nil {
		return "", err
	}
	return c.serviceAccountKubeconfig(ctx, namespace, name+"-controller-manager")
}

// withCertificatesForMetrics runs Kueue with an /etc of its own, because Kueue reads certificates for its metrics from a fixed path. This
// needs Linux' user and mount namespaces.
func withCertificatesForMetrics(p processtest.Program, certificates string) processtest.Program {
	const script = `mount -t tmpfs own /etc && mkdir -p /etc/kueue/metrics && ln -s "$0" /etc/kueue/metrics/certs && exec "$@"`
	p.Args = slices.Concat([]string{"--mount", "--map-root-user", "sh", "-c", script, certificates, p.Binary}, p.Args)
	p.Binary = "unshare"
	return p
}

// StartKueue starts Kueue with its integrations of Jobs and pods.
func (c *Cluster) StartKueue(ctx context.Context) error {
	const further = "integrations: {frameworks: [batch/job, pod]}\nfeatureGates: {VisibilityOnDemand: false}\n"
	_, err := c.startController(ctx, filepath.Join(c.Components.Kueue, "kueue"), c.Components.KueueSource,
		"config.kueue.x-k8s.io/v1beta2", further)
	return err
}

// leaderWorkerSet is the smallest.
const leaderWorkerSet = `
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: small, namespace: default}
spec: {leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{name: c, image: i}]}}}}`

// StartLWS starts LeaderWorkerSet's controller.
func (c *Cluster) StartLWS(ctx context.Context) (*processtest.Process, error) {
	p, err := c.startController(ctx, filepath.Join(c.Components.LWS, "lws"), c.Components.LWSSource,
		"config.lws.x-k8s.io/v1alpha1", "")
	if err != nil {
		return nil, err
	}
	// A client may write a LeaderWorkerSet once the webhooks answer.
	return p, Eventually(ctx, startTimeout, func(ctx context.Context) error {
		_, err := c.Kubectl(ctx, leaderWorkerSet, "create", "--dry-run=server", "-f", "-")
		return err
	})
}
