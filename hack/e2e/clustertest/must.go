package clustertest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// CheckTimeout bounds what takes seconds, on a busy machine: there a pool that was late for one surge is filled before the next.
const CheckTimeout = 6 * time.Minute

// MustApply applies manifests, which must succeed.
func (c *Cluster) MustApply(t *testing.T, manifests ...string) {
	t.Helper()
	if err := c.Apply(t.Context(), strings.Join(manifests, "\n---\n")); err != nil {
		t.Fatal(err)
	}
}

// MustKubectl runs kubectl, which must succeed.
func (c *Cluster) MustKubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := c.Kubectl(t.Context(), "", args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// MustPatch merges a patch into an object.
func (c *Cluster) MustPatch(t *testing.T, namespace, object, patch string) {
	t.Helper()
	c.MustKubectl(t, "patch", object, "-n", namespace, "--type=merge", "-p", patch)
}

// MustEventually waits until a check returns an empty text. The text is what is missing.
func MustEventually(t *testing.T, check func() string) {
	t.Helper()
	err := Eventually(t.Context(), CheckTimeout, func(context.Context) error {
		if missing := check(); missing != "" {
			return errors.New(missing)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
