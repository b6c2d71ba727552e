package testcluster

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// assets is where envtest looks for the binaries.
const assets = "KUBEBUILDER_ASSETS"

// Cluster is a running control plane. It stops when its test ends.
type Cluster struct {
	// Config is that of a cluster administrator.
	Config *rest.Config

	environment *envtest.Environment
	kubeconfig  string
}

// Start runs a control plane for as long as the test (about five seconds to start), or skips the test where the binaries
// are not there.
func Start(tb testing.TB) *Cluster {
	tb.Helper()
	if os.Getenv(assets) == "" {
		tb.Skipf("%s is unset: run with %s=$(hack/kubernetes/build.sh | tail -1)", assets, assets)
	}
	ctrllog.SetLogger(logr.Discard())
	environment := &envtest.Environment{
		CRDDirectoryPaths:        []string{filepath.Join(Root(tb), "deploy", "crds")},
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: 2 * time.Minute,
		ControlPlaneStopTimeout:  time.Minute,
	}
	tb.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			tb.Errorf("stop the control plane: %v", err)
		}
	})
	config, err := environment.Start()
	if err != nil {
		tb.Fatalf("start etcd and kube-apiserver of %s: %v", os.Getenv(assets), err)
	}
	config.QPS = -1 // No limit of the client's own: tests are in a hurry.
	kubeconfig := filepath.Join(tb.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, environment.KubeConfig, 0o600); err != nil {
		tb.Fatal(err)
	}
	return &Cluster{Config: config, environment: environment, kubeconfig: kubeconfig}
}

// User is the configuration of somebody else than the administrator, who may do what RBAC grants.
func (c *Cluster) User(tb testing.TB, name string, groups ...string) *rest.Config {
	tb.Helper()
	user, err := c.environment.AddUser(envtest.User{Name: name, Groups: groups}, rest.CopyConfig(c.Config))
	if err != nil {
		tb.Fatalf("add the user %s: %v", name, err)
	}
	return user.Config()
}

// Kubectl runs the real kubectl as the administrator, with text on its standard input, and gives its output.
func (c *Cluster) Kubectl(tb testing.TB, input string, args ...string) (output string, err error) {
	tb.Helper()
	// A test's clean-up comes after its context has ended.
	command := exec.CommandContext(context.WithoutCancel(tb.Context()), filepath.Join(os.Getenv(assets), "kubectl"),
		append([]string{"--kubeconfig", c.kubeconfig}, args...)...)
	command.Stdin = bytes.NewBufferString(input)
	command.Dir = Root(tb)
	out, err := command.CombinedOutput()
	return string(out), err
}

// MustKubectl is Kubectl where an error ends the test.
func (c *Cluster) MustKubectl(tb testing.TB, input string, args ...string) string {
	tb.Helper()
	output, err := c.Kubectl(tb, input, args...)
	if err != nil {
		tb.Fatalf("kubectl %q: %v\n%s", args, err, output)
	}
	return output
}

// Root is the root of the repository.
func Root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			tb.Fatal("no go.mod above the working directory")
		}
		dir = parent
	}
}
