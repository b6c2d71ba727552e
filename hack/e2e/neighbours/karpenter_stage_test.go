package neighbours_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// karpenterStage is a cluster without nodes, a Prometheus that has the demand already, and Forewarm. Karpenter comes later.
type karpenterStage struct {
	*clustertest.Cluster
	begin     time.Time
	client    kubernetes.Interface
	objects   dynamic.Interface
	forewarm  *clustertest.Replica
	karpenter *clustertest.Karpenter
}

// karpenterStep is the interval of plans: a third of a node's lead time here, where it is a twentieth in a cluster.
const karpenterStep = 5 * time.Second

// setUpKarpenter starts a stage that ends with its test. series are written with a sample every second from a time on.
func setUpKarpenter(t *testing.T, from time.Time, series map[string][]float64) *karpenterStage {
	t.Helper()
	s := &karpenterStage{begin: time.Now()}
	s.Cluster, _ = setUp(t, "FOREWARM_KARPENTER",
		clustertest.Options{Sync: time.Second, Stabilization: 20 * time.Second, Bare: true})
	if err := s.WriteSeries(t.Context(), from, time.Second, series); err != nil {
		t.Fatal(err)
	}
	prometheus, err := s.StartPrometheus(t.Context(), "global: {}")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"deploy/default", "deploy/warm-pools"} {
		if err = s.Install(t.Context(), folder); err != nil {
			t.Fatal(err)
		}
	}
	s.forewarm, err = s.StartForewarm(t.Context(), "forewarm", "--prometheus-url="+prometheus.URL,
		"--season="+cycle.String(), "--warm-pool-step="+karpenterStep.String())
	if err != nil {
		t.Fatal(err)
	}
	if err = s.WaitAvailable(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.client, err = kubernetes.NewForConfig(s.Config)
	if err == nil {
		s.objects, err = dynamic.NewForConfig(s.Config)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.log(t, "Forewarm is ready")
	return s
}

// log logs with the time since the beginning.
func (s *karpenterStage) log(t *testing.T, format string, args ...any) {
	t.Helper()
	t.Logf("%4.0f s: %s", time.Since(s.begin).Seconds(), fmt.Sprintf(format, args...))
}

// startKarpenter installs Karpenter's CRDs and the node pools, and starts Karpenter with CapacityBuffers.
func (s *karpenterStage) startKarpenter(t *testing.T, nodePools ...string) {
	t.Helper()
	file := filepath.Join(s.Dir, "instance-types.json")
	err := errors.Join(os.WriteFile(file, []byte(instanceTypes()), 0o600), s.InstallKarpenterCRDs(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	s.apply(t, nodePools...)
	if s.karpenter, err = s.StartKarpenter(t.Context(), file, "FEATURE_GATES=CapacityBuffer=true"); err != nil {
		t.Fatal(err)
	}
	s.log(t, "Karpenter is ready")
}

// apply applies manifests, which must succeed.
func (s *karpenterStage) apply(t *testing.T, manifests ...string) {
	t.Helper()
	if err := s.Apply(t.Context(), strings.Join(manifests, "\n---\n")); err != nil {
		t.Fatal(err)
	}
}

// kubectl runs kubectl, which must succeed.
func (s *karpenterStage) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := s.Kubectl(t.Context(), "", args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// patch merges a patch into an object.
func (s *karpenterStage) patch(t *testing.T, namespace, object, patch string) {
	t.Helper()
	s.kubectl(t, "patch", object, "-n", namespace, "--type=merge", "-p", patch)
}

// karpenterTimeout bounds what takes a minute at most, on a busy machine.
const karpenterTimeout = 5 * time.Minute

// eventually waits until a check returns an empty text. The text is what is missing.
func (*karpenterStage) eventually(t *testing.T, check func() string) {
	t.Helper()
	err := clustertest.Eventually(t.Context(), karpenterTimeout, func(context.Context) error {
		if missing := check(); missing != "" {
			return errors.New(missing)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
