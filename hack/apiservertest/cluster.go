package apiservertest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"
)

// assets is the variable that names the folder with the binaries.
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
