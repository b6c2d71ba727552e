// Package neighbours tests Forewarm together with the real programs that it lives with in a cluster, on a complete control plane
// (package clustertest). `make e2e-neighbours` builds them and runs this. Each test is skipped where FOREWARM_E2E is unset, or the
// variable with the folder of its neighbour's binaries.
package neighbours_test

import (
	"context"
	"os"
	"testing"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// setUp starts a cluster that ends with its test. The variable names the folder of the neighbour's binaries, which is returned.
func setUp(t *testing.T, variable string, o clustertest.Options) (cluster *clustertest.Cluster, folder string) {
	t.Helper()
	if folder = os.Getenv(variable); folder == "" || os.Getenv("FOREWARM_E2E") == "" {
		t.Skipf("no FOREWARM_E2E or no %s: make e2e-neighbours builds the neighbours and runs this", variable)
	}
	root, err := clustertest.Root()
	if err != nil {
		t.Fatal(err)
	}
	if o.Components, err = clustertest.Build(context.WithoutCancel(t.Context()), root); err != nil {
		t.Fatal(err)
	}
	o.Dir = t.TempDir()
	if cluster, err = clustertest.Start(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, p := range cluster.Processes() {
			if t.Failed() {
				t.Logf("%s:\n%s", p.Name, p.Tail())
			}
		}
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cluster, folder
}
