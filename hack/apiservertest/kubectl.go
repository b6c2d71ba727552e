package apiservertest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

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
