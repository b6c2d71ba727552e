// Package apiservertest starts a real etcd and a real kube-apiserver for a test, with forewarm's
// CustomResourceDefinitions and an aggregator that vouches for its users. It has no nodes and no controllers: objects
// stay as they are written.
package apiservertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	audit "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"
)

// assets is the environment variable with the folder of the binaries.
const assets = "KUBEBUILDER_ASSETS"

// Cluster is a running control plane. It stops when its test ends.
type Cluster struct {
	// Config is a cluster administrator's.
	Config *rest.Config

	environment *envtest.Environment
	kubeconfig  string
	audit       string
}

// Start runs a control plane until the test ends. The start takes about five seconds. It skips the test where the
// binaries are missing.
func Start(tb testing.TB) *Cluster {
	tb.Helper()
	if os.Getenv(assets) == "" {
		tb.Skipf("%s is unset: run make test-cluster, which builds the binaries and sets it", assets)
	}
	ctrllog.SetLogger(logr.Discard())
	c := &Cluster{
		environment: &envtest.Environment{
			CRDDirectoryPaths: []string{
				filepath.Join(Root(tb), "deploy", "charts", "forewarm", "files", "crds"),
			},
			ErrorIfCRDPathMissing:    true,
			ControlPlaneStartTimeout: 2 * time.Minute,
			ControlPlaneStopTimeout:  time.Minute,
		},
		audit: filepath.Join(tb.TempDir(), "audit.log"),
	}
	for flags, values := range map[string]string{
		"audit-policy-file": write(tb, "audit.yaml", []byte(auditPolicy)),
		"audit-log-path":    c.audit,
	} {
		c.environment.ControlPlane.GetAPIServer().Configure().Set(flags, values)
	}
	const quota = 8 << 30 // Each write of an object of 1.4 MB takes that much.
	c.environment.ControlPlane.Etcd = &envtest.Etcd{}
	c.environment.ControlPlane.Etcd.Configure().Set("quota-backend-bytes", strconv.Itoa(quota))
	c.aggregate(tb)
	tb.Cleanup(func() {
		if err := c.environment.Stop(); err != nil {
			tb.Errorf("stop the control plane: %v", err)
		}
	})
	config, err := c.environment.Start()
	if err != nil {
		tb.Fatalf("start etcd and kube-apiserver of %s: %v", os.Getenv(assets), err)
	}
	config.QPS = -1 // No rate limit in the client.
	c.Config, c.kubeconfig = config, Kubeconfig(tb, config)
	return c
}

// User is the configuration of another user, who may do what RBAC grants.
func (c *Cluster) User(tb testing.TB, name string, groups ...string) *rest.Config {
	tb.Helper()
	user, err := c.environment.AddUser(envtest.User{Name: name, Groups: groups}, rest.CopyConfig(c.Config))
	if err != nil {
		tb.Fatalf("add the user %s: %v", name, err)
	}
	return user.Config()
}

// Kubeconfig writes a kubeconfig with a certificate or a token to a temporary file of the test.
func Kubeconfig(tb testing.TB, config *rest.Config) string {
	tb.Helper()
	text, err := yaml.Marshal(clientcmdapi.Config{
		Clusters: []clientcmdapi.NamedCluster{{Name: "c", Cluster: clientcmdapi.Cluster{
			Server: config.Host, CertificateAuthorityData: config.CAData,
		}}},
		AuthInfos: []clientcmdapi.NamedAuthInfo{{Name: "u", AuthInfo: clientcmdapi.AuthInfo{
			ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken,
		}}},
		Contexts: []clientcmdapi.NamedContext{
			{Name: "x", Context: clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}},
		},
		CurrentContext: "x",
	})
	if err != nil {
		tb.Fatal(err)
	}
	return write(tb, "kubeconfig", text)
}

// write writes a text to a temporary file of the test.
func write(tb testing.TB, name string, text []byte) string {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		tb.Fatal(err)
	}
	return file
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

// Kubectl runs the real kubectl as the administrator in the root of the repository, with a text on its standard input,
// and returns its output.
func (c *Cluster) Kubectl(tb testing.TB, input string, args ...string) (output string, err error) {
	tb.Helper()
	own := []string{"--kubeconfig", c.kubeconfig, "--cache-dir", filepath.Dir(c.kubeconfig)}
	// A test's clean-up runs after its context has ended.
	command := exec.CommandContext(context.WithoutCancel(tb.Context()), filepath.Join(os.Getenv(assets), "kubectl"),
		append(own, args...)...)
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

// Eventually polls a check, which returns what is still missing, until it is empty. The test fails after the timeout.
func Eventually(tb testing.TB, patience time.Duration, check func() string) {
	tb.Helper()
	const moment = 50 * time.Millisecond
	missing := ""
	for range int(patience / moment) {
		if missing = check(); missing == "" {
			return
		}
		time.Sleep(moment)
	}
	tb.Fatalf("after %s still: %s", patience, missing)
}

// Background does work until the returned function is called, at the latest until the test ends.
func Background(tb testing.TB, work func(context.Context) error) (stop func()) {
	tb.Helper()
	// A test's own context ends before its cleanup.
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	var running sync.WaitGroup
	running.Go(func() {
		if err := work(ctx); err != nil {
			tb.Error(err)
		}
	})
	stop = func() {
		cancel()
		running.Wait()
	}
	tb.Cleanup(stop)
	return stop
}

// Differs is a check that a value is as wanted.
func Differs[T comparable](what string, got, want T) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("%s: %v, want %v", what, got, want)
}

// auditPolicy logs the requests of service accounts, after the response.
const auditPolicy = `{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [
	{"level": "Metadata", "userGroups": ["system:serviceaccounts"]},
	{"level": "None"}]}`

// Audit returns every request of a service account so far.
func (c *Cluster) Audit(tb testing.TB) []audit.Event {
	tb.Helper()
	text, err := os.ReadFile(c.audit)
	if err != nil {
		tb.Fatal(err)
	}
	// The last line may be incomplete.
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	var out []audit.Event
	for line := range bytes.Lines(text) {
		var event audit.Event
		if err := json.Unmarshal(line, &event); err != nil {
			tb.Fatalf("audit log: %v in %s", err, line)
		}
		out = append(out, event)
	}
	return out
}
