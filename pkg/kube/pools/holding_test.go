package pools_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/kube/pools"
)

// TestCluster runs on one control plane. There are no controllers: what is asked for stays as it is asked for, and what
// a controller would say of it is written by the test.
func TestHolding(t *testing.T) {
	c := apiservertest.Start(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *holdScene)
	}{
		{"APriorityClassThatWillNotDo", testPriority},
		{"PlaceholdersComeChangeAndGo", testPlaceholders},
		{"NothingIsWrittenTwice", testQuiet},
		{"WhatIsNotOursStays", testForeign},
		{"PlaceholdersThatWait", testWaiting},
		{"GatesAreOpenedByThePlan", testGates},
		{"AQuotaThatKeepsRealPodsOut", testCrowded},
		{"ImagesArePulled", testImages},
		{"PlaceholdersPassTheirPolicy", testPolicy},
		{"ATemplateThatIsRefused", testRefused},
		{"RightsAreMissing", testHoldingRights},
		{"NoBuffersInTheCluster", testNoBufferCRD},
		{"Buffers", testBuffers},
		{"FromOneKindToAnother", testSwitch},
		{"AScaleIsGivenBack", testScale},
		{"AScaleThatServes", testServing},
		{"TwoPoolsOnOneScale", testRivals},
		{"NoScaleToSet", testNoScale},
		{"AScaleOfTheClusterThatServes", testClusterServing},
		{"AScaleOfAnotherNamespace", testElsewhere},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &holdScene{T: t, Cluster: c, clock: time.Now()}
			s.actuator = s.as(c.Config)
			t.Cleanup(s.clear)
			test.run(t, s)
		})
	}
}

// holdScene is a test's own actuator on the control plane.
type holdScene struct {
	*testing.T
	*apiservertest.Cluster
	actuator *pools.Dispatcher
	clock    time.Time
}

// as is another process's actuator, with somebody's rights.
func (s *holdScene) as(config *rest.Config) *pools.Dispatcher {
	s.Helper()
	a, err := pools.NewDispatcher(config, func() time.Time { return s.clock })
	if err != nil {
		s.Fatal(err)
	}
	return a
}

func (s *holdScene) clear() {
	s.MustKubectl(s.T, "", "delete", "warmpools,deployments,podtemplates,forecasts,hpa", "--all")
	s.MustKubectl(s.T, "", "delete", "priorityclass", "forewarm-placeholder", "--ignore-not-found")
}

// classed makes the priority class that deploy/ brings.
func (s *holdScene) classed(value int) {
	s.Helper()
	s.MustKubectl(s.T, "", "create", "priorityclass", "forewarm-placeholder", fmt.Sprintf("--value=%d", value),
		"--preemption-policy=Never")
}

// pool makes one of a GPU a chunk, with further lines of its spec, or changes it.
func (s *holdScene) pool(lines string) *v1alpha1.WarmPool {
	s.Helper()
	s.MustKubectl(s.T, `
apiVersion: forewarm.dev/v1alpha1
kind: WarmPool
metadata: {name: llama, namespace: default}
spec:
  members: [{forecast: llama}]
  max: 8
  chunk: {podTemplate: {spec: {containers: [{name: server, image: vllm, resources: {limits: {nvidia.com/gpu: "1"}}}]}}}
`+lines, "apply", "-f", "-")
	return s.stored()
}

// stored is the pool as the cluster has it, with its defaults.
func (s *holdScene) stored() *v1alpha1.WarmPool {
	s.Helper()
	client, err := dynamic.NewForConfig(s.Config)
	if err != nil {
		s.Fatal(err)
	}
	object, err := client.Resource(v1alpha1.GroupVersion().WithResource("warmpools")).Namespace("default").
		Get(s.Context(), "llama", metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	pool := &v1alpha1.WarmPool{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, pool); err != nil {
		s.Fatal(err)
	}
	return defaulted(pool)
}

// hold has so much held and returns what there is.
func (s *holdScene) hold(pool *v1alpha1.WarmPool, base, tail int) pools.Actual {
	s.Helper()
	held, err := s.actuator.Hold(s.Context(), pool, pools.Desired{Base: base, Tail: tail})
	if err != nil {
		s.Fatal(err)
	}
	return held
}

// problem wants a Problem with a reason, whose words have some in them.
func (s *holdScene) problem(err error, reason string, words ...string) {
	s.Helper()
	p := pools.AsProblem(err)
	if p == nil || p.Reason != reason {
		s.Fatalf("%v, want a Problem %s", err, reason)
	}
	for _, w := range words {
		if !strings.Contains(p.Message, w) {
			s.Errorf("%q is not in %s", w, p.Message)
		}
	}
}

// counted wants counts of what there is, without a remark.
func (s *holdScene) counted(held pools.Actual, want ...pools.Count) {
	s.Helper()
	if diff := cmp.Diff(pools.Actual{Types: want}, held); diff != "" {
		s.Error(diff)
	}
}

// get is what kubectl prints of objects by a JSON path.
func (s *holdScene) get(what, path string) string {
	s.Helper()
	return strings.TrimSpace(s.MustKubectl(s.T, "", "get", what, "-o", "jsonpath="+path))
}

// all are names and numbers of replicas.
func (s *holdScene) all(kind string) string {
	s.Helper()
	return s.get(kind, `{range .items[*]}{.metadata.name}={.spec.replicas} {end}`)
}

func (s *holdScene) expect(what, got, want string) {
	s.Helper()
	if got != want {
		s.Errorf("%s: %q, want %q", what, got, want)
	}
}
