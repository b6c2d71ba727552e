package cmdline_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
)

const kubeconfig = `
apiVersion: v1
kind: Config
current-context: good
contexts:
  - {name: good, context: {cluster: near, user: me, namespace: team}}
  - {name: bad, context: {cluster: near, user: zero}}
clusters: [{name: near, cluster: {server: "https://near.example"}}]
users:
  - {name: me, user: {token: secret}}
  - {name: zero, user: {tokenFile: /dev/zero}}
`

func TestCluster(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	config, namespace, err := cmdline.LoadKubeconfig(t.Context(), path, "")
	if err != nil || config.Host != "https://near.example" || namespace != "team" {
		t.Errorf("%+v, %s, %v", config, namespace, err)
	}
	if _, _, err := cmdline.LoadKubeconfig(t.Context(), path, "bad"); !errors.Is(err, cmdline.ErrNoFile) {
		t.Errorf("a token file without an end: %v", err)
	}
	t.Setenv("KUBECONFIG", "/dev/zero")
	if _, _, err := cmdline.LoadKubeconfig(t.Context(), "", ""); !errors.Is(err, cmdline.ErrTooLarge) {
		t.Errorf("a kubeconfig without an end: %v", err)
	}
}

// A pipe, as a shell makes of <(COMMAND), can be read only once.
func TestClusterOfAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(path, []byte(kubeconfig), 0o600) }()
	config, namespace, err := cmdline.LoadKubeconfig(t.Context(), path, "good")
	if err != nil || config.BearerToken != "secret" || namespace != "team" {
		t.Errorf("%+v, %s, %v", config, namespace, err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}
