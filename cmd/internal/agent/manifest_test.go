package agent_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/cmd/internal/agent"
)

// TestTheManifestFitsTheFlags: what deploy/agent passes is understood, and the folders that the agent reads and writes are there.
func TestTheManifestFitsTheFlags(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("../../../deploy/agent/manifest.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, document, found := strings.Cut(string(text), "\n---\napiVersion: apps/v1\n")
	if !found {
		t.Fatalf("there is no DaemonSet in:\n%s", text)
	}
	var set apps.DaemonSet
	if err = yaml.UnmarshalStrict([]byte("apiVersion: apps/v1\n"+document), &set); err != nil {
		t.Fatal(err)
	}
	spec := set.Spec.Template.Spec
	container := spec.Containers[0]
	if code, _, stderr := run(t, nil, append(slices.Clone(container.Args), "--version")...); code != 0 {
		t.Errorf("its arguments: %s", stderr)
	}
	writable := map[string]bool{}
	for _, m := range container.VolumeMounts {
		writable[m.MountPath] = !m.ReadOnly
	}
	is := agent.Defaults()
	for _, path := range []string{filepath.Dir(is.Socket), is.Logs + "/pods", is.Logs + "/containers"} {
		if write, found := writable[path]; !found || write {
			t.Errorf("%s is mounted: %v, writable: %v", path, found, write)
		}
	}
	_, state, _ := strings.Cut(strings.Join(container.Args, " "), "--state=")
	if !writable[filepath.Dir(state)] {
		t.Errorf("%s cannot be written", state)
	}
	if !spec.HostPID || is.Proc != "/proc" {
		t.Error("it does not see the node's processes")
	}
	if p := container.Ports[0]; !strings.HasSuffix(is.Listen, ":9401") || p.ContainerPort != 9401 {
		t.Errorf("it listens on %s, the manifest says %d", is.Listen, p.ContainerPort)
	}
}
