package clustertest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
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
	// The chart has no right to list VolumeAttachments, without which the scheduler does not begin.
	if _, err = c.Kubectl(ctx, "", "create", "clusterrolebinding", namespace, "--clusterrole=system:kube-scheduler",
		"--serviceaccount="+namespace+":"+CoschedulingName); err != nil {
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

// controller installs a controller by the manifests of its module, but for its pods its own process, with a port for its webhooks.
// It returns the kubeconfig of its service account.
func (c *Cluster) controller(ctx context.Context, name, source string, port int, bundle string) (string, error) {
	namespace := name + "-system"
	folder := filepath.Join(source, "config", "default")
	if _, err := c.Kubectl(ctx, "", "apply", "--server-side", "-k", folder); err != nil {
		return "", err
	}
	for _, kind := range []string{"mutating", "validating"} {
		object := kind + "webhookconfiguration/" + name + "-" + kind + "-webhook-configuration"
		text, err := c.Kubectl(ctx, "", "get", object, "-o", "json")
		if err != nil {
			return "", err
		}
		text = strings.ReplaceAll(text, `"port": 443`, fmt.Sprintf(`"port": %d`, port))
		if bundle != "" {
			const client = `"clientConfig": {`
			text = strings.ReplaceAll(text, client, fmt.Sprintf(client+`"caBundle": %q,`, bundle))
		}
		if _, err = c.Kubectl(ctx, text, "replace", "-f", "-"); err != nil {
			return "", err
		}
	}
	if err := c.route(ctx, namespace, name+"-webhook-service", port); err != nil {
		return "", err
	}
	return c.serviceAccountKubeconfig(ctx, namespace, name+"-controller-manager")
}

// StartKueue starts Kueue with its integration of pods.
func (c *Cluster) StartKueue(ctx context.Context) error {
	ports, err := processtest.FreePorts(ctx, 2)
	if err != nil {
		return err
	}
	kubeconfig, err := c.controller(ctx, "kueue", c.Components.KueueSource, ports[0],
		base64.StdEncoding.EncodeToString(c.authority.pem))
	if err != nil {
		return err
	}
	certificates, config := filepath.Join(c.Dir, "kueue"), filepath.Join(c.Dir, "kueue.yaml")
	if err = c.writeCertificates(certificates, "kueue", "kueue-webhook-service.kueue-system.svc"); err != nil {
		return err
	}
	if err = os.WriteFile(config, fmt.Appendf(nil, `
apiVersion: config.kueue.x-k8s.io/v1beta1
kind: Configuration
health: {healthProbeBindAddress: "127.0.0.1:%d"}
metrics: {bindAddress: "0"}
webhook: {host: 127.0.0.1, port: %d, certDir: %s}
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
integrations: {frameworks: [pod]}
`, ports[1], ports[0], certificates), 0o600); err != nil {
		return err
	}
	p, err := c.Run(processtest.Program{
		Name: "kueue", Binary: filepath.Join(c.Components.KueueLWS, "kueue"), Env: []string{"KUBECONFIG=" + kubeconfig},
		Args: []string{"--config=" + config, "--feature-gates=VisibilityOnDemand=false"},
	})
	if err != nil {
		return err
	}
	return p.AwaitHealthy(ctx, startTimeout, http.DefaultClient, fmt.Sprintf("http://127.0.0.1:%d/readyz", ports[1]))
}

// LeaderWorkerSet has no flags for the port of its webhooks, on all addresses, nor for the folder of their certificates.
const (
	lwsPort         = 9443
	lwsCertificates = "/tmp/k8s-webhook-server/serving-certs"
)

// leaderWorkerSet is the smallest.
const leaderWorkerSet = `
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: small, namespace: default}
spec: {leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{name: c, image: i}]}}}}`

// StartLWS starts LeaderWorkerSet's controller. One runs on a machine.
func (c *Cluster) StartLWS(ctx context.Context) (*processtest.Process, error) {
	kubeconfig, err := c.controller(ctx, "lws", c.Components.LWSSource, lwsPort, "")
	if err != nil {
		return nil, err
	}
	p, err := c.startProbed(ctx, processtest.Program{
		Name: "lws", Binary: filepath.Join(c.Components.KueueLWS, "lws"), Env: []string{"KUBECONFIG=" + kubeconfig},
		Args: []string{"--leader-elect=false", "--metrics-bind-address=0"},
	}, "--health-probe-bind-address=127.0.0.1:%d", "http://127.0.0.1:%d/readyz")
	if err != nil {
		return nil, err
	}
	// It makes its certificates, as a Secret, and waits until they are mounted.
	var secret struct{ Data map[string][]byte }
	if err = Eventually(ctx, startTimeout, func(ctx context.Context) error {
		text, problem := c.Kubectl(ctx, "", "get", "secret/lws-webhook-server-cert", "-n", "lws-system", "-o", "json")
		if problem == nil {
			problem = json.Unmarshal([]byte(text), &secret)
		}
		if problem == nil && len(secret.Data["tls.crt"]) == 0 {
			problem = errors.New("the Secret of lws has no certificate")
		}
		return problem
	}); err != nil {
		return nil, err
	}
	if err = os.MkdirAll(lwsCertificates, 0o700); err != nil {
		return nil, err
	}
	for _, name := range []string{"tls.key", "ca.crt", "tls.crt"} {
		if err = os.WriteFile(filepath.Join(lwsCertificates, name), secret.Data[name], 0o600); err != nil {
			return nil, err
		}
	}
	// A client may write a LeaderWorkerSet once the webhooks answer.
	return p, Eventually(ctx, startTimeout, func(ctx context.Context) error {
		_, err := c.Kubectl(ctx, leaderWorkerSet, "create", "--dry-run=server", "-f", "-")
		return err
	})
}
