package clustertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Options of a cluster.
type Options struct {
	// Dir is an empty folder for logs, certificates and databases.
	Dir string
	// Components to run.
	Components Components
	// KEDA starts KEDA, which then owns external.metrics.k8s.io.
	KEDA bool
	// Sync is the sync period of the HPA controller; default 15 s, as in a real cluster.
	Sync time.Duration
	// Bare starts without nodes: the caller creates them, and kwok simulates their kubelets.
	Bare bool
	// Stabilization of scale-downs; default 5 min, as in a real cluster.
	Stabilization time.Duration
	// Progress is called with what is being started; may be nil.
	Progress func(format string, args ...any)
}

// Cluster is a running one.
type Cluster struct {
	Options
	// Config is the administrator's; Kubeconfig is the same as a file.
	Config     *rest.Config
	Kubeconfig string

	authority *authority
	etcd      string
	host      string
	apiServer apiServer
	manager   controllerManager
	forewarm  installation

	mu        sync.Mutex
	processes []*processtest.Process
}

// apiServer is the kube-apiserver, and how its health is asked for.
type apiServer struct {
	program processtest.Program
	process *processtest.Process
	client  *http.Client
}

// controllerManager is the kube-controller-manager.
type controllerManager struct {
	program processtest.Program
	process *processtest.Process
}

// Start starts a cluster, which takes about ten seconds. After an error nothing is left running.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	if o.Sync == 0 {
		o.Sync = 15 * time.Second
	}
	if o.Stabilization == 0 {
		o.Stabilization = 5 * time.Minute
	}
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	c := &Cluster{Options: o}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	var err error
	if c.authority, err = newAuthority(c.Dir); err != nil {
		return err
	}
	for _, part := range []struct {
		name  string
		start func(context.Context) error
	}{
		{"etcd", c.startEtcd},
		{"kube-apiserver", c.startAPIServer},
		{"kube-controller-manager", c.startControllerManager},
		{"kube-scheduler", c.startScheduler},
		{"kwok and its nodes", c.startNodes},
	} {
		c.Progress("starting %s", part.name)
		if err := part.start(ctx); err != nil {
			return fmt.Errorf("start %s: %w", part.name, err)
		}
	}
	if c.KEDA {
		c.Progress("starting KEDA")
		if err := c.startKEDA(ctx); err != nil {
			return fmt.Errorf("start KEDA: %w", err)
		}
	}
	return nil
}

// Stop stops all processes, the newest first, and joins their errors.
func (c *Cluster) Stop() error {
	c.mu.Lock()
	processes := slices.Clone(c.processes)
	c.processes = nil
	c.mu.Unlock()
	var problems []error
	for _, p := range slices.Backward(processes) {
		problems = append(problems, p.Stop())
	}
	return errors.Join(problems...)
}

// Processes returns all processes that were started, in order, including those that ended.
func (c *Cluster) Processes() []*processtest.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.processes)
}

// Run starts a program that Stop stops.
func (c *Cluster) Run(p processtest.Program) (*processtest.Process, error) {
	process, err := p.Start(c.Dir)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.processes = append(c.processes, process)
	return process, nil
}

// writeKubeconfig writes a kubeconfig with credentials.
func (c *Cluster) writeKubeconfig(file, proof string) (string, error) {
	path := filepath.Join(c.Dir, file+".kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: e2e, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: user, user: {%s}}]
contexts: [{name: e2e, context: {cluster: e2e, user: user}}]
current-context: e2e
`, c.host, c.authority.file(), proof)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// serviceAccountKubeconfig writes a kubeconfig for a service account.
func (c *Cluster) serviceAccountKubeconfig(ctx context.Context, namespace, name string) (string, error) {
	token, err := c.Kubectl(ctx, "", "create", "token", name, "-n", namespace, "--duration=24h")
	if err != nil {
		return "", err
	}
	return c.writeKubeconfig(name, fmt.Sprintf("token: %q", strings.TrimSpace(token)))
}

// certificateKubeconfig issues a client certificate and writes a kubeconfig for it.
func (c *Cluster) certificateKubeconfig(file, user string, groups ...string) (string, error) {
	who, err := c.authority.issue(file, user, groups)
	if err != nil {
		return "", err
	}
	return c.writeKubeconfig(file, fmt.Sprintf("client-certificate: %q, client-key: %q", who.certificate, who.key))
}

// initAdministrator sets Config and Kubeconfig.
func (c *Cluster) initAdministrator() error {
	var err error
	if c.Kubeconfig, err = c.certificateKubeconfig("admin", "administrator", "system:masters"); err != nil {
		return err
	}
	if c.Config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig); err != nil {
		return fmt.Errorf("read %s: %w", c.Kubeconfig, err)
	}
	c.Config.QPS = -1 // Tests need no client-side limit.
	return nil
}

// Kubectl runs the real kubectl in the root of the repository, with text on its standard input, and returns its
// output. The error has its standard error.
func (c *Cluster) Kubectl(ctx context.Context, input string, args ...string) (string, error) {
	return c.kubectlAs(ctx, c.Kubeconfig, input, args...)
}

func (c *Cluster) kubectlAs(ctx context.Context, kubeconfig, input string, args ...string) (string, error) {
	own := []string{"--kubeconfig", kubeconfig, "--cache-dir", filepath.Join(c.Dir, "kubectl")}
	command := exec.CommandContext(ctx, filepath.Join(c.Components.Kubernetes, "kubectl"), append(own, args...)...)
	command.Dir, command.Stdin = c.Components.Root, strings.NewReader(input)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return string(out), err
}

// Apply applies manifests.
func (c *Cluster) Apply(ctx context.Context, manifests string) error {
	_, err := c.Kubectl(ctx, manifests, "apply", "--server-side", "-f", "-")
	return err
}
