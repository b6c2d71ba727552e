package apiserver_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
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

// controlPlane is a real etcd and kube-apiserver, whose aggregator proves itself by a certificate.
type controlPlane struct {
	environment *envtest.Environment
	admin       *rest.Config
	kubeconfig  string
}

func startControlPlane(t *testing.T) *controlPlane {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Skip("KUBEBUILDER_ASSETS is unset: run with KUBEBUILDER_ASSETS=$(hack/kubernetes/build.sh | tail -1)")
	}
	ctrllog.SetLogger(logr.Discard())
	environment := &envtest.Environment{
		ControlPlaneStartTimeout: 2 * time.Minute, ControlPlaneStopTimeout: time.Minute,
	}
	certificate, key := frontProxy(t)
	environment.ControlPlane.GetAPIServer().Configure().
		Set("requestheader-client-ca-file", certificate).
		Set("requestheader-allowed-names", "front-proxy").
		Set("requestheader-username-headers", "X-Remote-User").
		Set("requestheader-group-headers", "X-Remote-Group").
		Set("requestheader-extra-headers-prefix", "X-Remote-Extra-").
		Set("proxy-client-cert-file", certificate).
		Set("proxy-client-key-file", key)
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Errorf("stop the control plane: %v", err)
		}
	})
	admin, err := environment.Start()
	if err != nil {
		t.Fatalf("start the control plane: %v", err)
	}
	return &controlPlane{environment: environment, admin: admin, kubeconfig: kubeconfig(t, admin)}
}

// frontProxy makes the aggregator's certificate, which is its own authority, and writes it and its key to files.
func frontProxy(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "front-proxy"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		IsCA:        true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, content []byte) string {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	return write("proxy.crt", "CERTIFICATE", der), write("proxy.key", "PRIVATE KEY", secret)
}

// user is somebody who may do what RBAC grants.
func (c *controlPlane) user(t *testing.T, name string) *rest.Config {
	t.Helper()
	user, err := c.environment.AddUser(envtest.User{Name: name}, rest.CopyConfig(c.admin))
	if err != nil {
		t.Fatal(err)
	}
	return user.Config()
}

// kubectl runs the real one as the administrator.
func (c *controlPlane) kubectl(input string, args ...string) (string, error) {
	command := exec.CommandContext(context.Background(), filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"),
		append([]string{"--kubeconfig", c.kubeconfig, "--cache-dir", filepath.Dir(c.kubeconfig)}, args...)...)
	command.Stdin = bytes.NewBufferString(input)
	out, err := command.CombinedOutput()
	return string(out), err
}

func (c *controlPlane) mustKubectl(t *testing.T, input string, args ...string) string {
	t.Helper()
	out, err := c.kubectl(input, args...)
	if err != nil {
		t.Fatalf("kubectl %v: %v\n%s", args, err, out)
	}
	return out
}
