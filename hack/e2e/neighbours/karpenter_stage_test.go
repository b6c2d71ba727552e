package neighbours_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// stage is a cluster, a Prometheus that has the demand already, and Forewarm. Karpenter comes later.
type stage struct {
	*clustertest.Cluster
	begin     time.Time
	client    kubernetes.Interface
	objects   dynamic.Interface
	forewarm  *clustertest.Replica
	karpenter *clustertest.Karpenter
}

// karpenterStep is the interval of plans: a third of a node's lead time here, where it is a twentieth in a cluster.
const karpenterStep = 5 * time.Second

// setUpStage starts a stage that ends with its test. series are written with a sample every second from a time on.
func setUpStage(
	t *testing.T, variable string, o clustertest.Options, from time.Time, series map[string][]float64,
) *stage {
	t.Helper()
	s := &stage{begin: time.Now()}
	o.Sync, o.Stabilization = time.Second, 20*time.Second
	s.Cluster, _ = setUp(t, variable, o)
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
func (s *stage) log(t *testing.T, format string, args ...any) {
	t.Helper()
	t.Logf("%4.0f s: %s", time.Since(s.begin).Seconds(), fmt.Sprintf(format, args...))
}

// startKarpenter installs Karpenter's CRDs and the node pools, and starts Karpenter with CapacityBuffers.
func (s *stage) startKarpenter(t *testing.T, nodePools ...string) {
	t.Helper()
	file := filepath.Join(s.Dir, "instance-types.json")
	err := errors.Join(os.WriteFile(file, []byte(instanceTypes()), 0o600), s.InstallKarpenterCRDs(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	s.MustApply(t, nodePools...)
	if s.karpenter, err = s.StartKarpenter(t.Context(), file, "FEATURE_GATES=CapacityBuffer=true"); err != nil {
		t.Fatal(err)
	}
	s.log(t, "Karpenter is ready")
}
