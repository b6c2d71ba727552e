package pools_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// testPolicy: whatever a pool's template has, its placeholders are what the policy of their class admits.
func testPolicy(t *testing.T, s *holdScene) {
	t.Helper()
	s.MustKubectl(t, "", "apply", "--server-side", "-k", "deploy/warm-pools")
	t.Cleanup(func() { s.MustKubectl(t, "", "delete", "-k", "deploy/warm-pools") })
	s.MustKubectl(t, `{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: nvidia}, handler: nvidia,
		overhead: {podFixed: {cpu: 250m}}, scheduling: {tolerations: [{key: gpu, operator: Exists}]}}`, "apply", "-f", "-")
	t.Cleanup(func() { s.MustKubectl(t, "", "delete", "runtimeclass", "nvidia") })
	apiservertest.Eventually(t, 20*time.Second, func() string {
		output, err := s.Kubectl(t, `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {
			priorityClassName: forewarm-placeholder, hostPID: true, containers: [{name: c, image: "registry.k8s.io/pause:3.10"}]}}`,
			"create", "--dry-run=server", "-f", "-")
		if err == nil || !strings.Contains(output, "is for placeholder pods") {
			return "the policy is not active: " + output
		}
		return ""
	})
	samples, err := filepath.Glob(filepath.Join(apiservertest.Root(t), "deploy", "samples", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, file := range append(samples, filepath.Join("testdata", "pool.yaml")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "kind: WarmPool") {
			continue
		}
		all, err := manifest.ReadPools(file, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			pool := one.Object.DeepCopy()
			pool.Namespace, pool.Name, pool.UID = "default", "llama", "1"
			if pool.Spec.Actuator.PlaceholderPods == nil {
				pool.Spec.Actuator = &v1alpha1.Actuator{PlaceholderPods: &v1alpha1.PlaceholderPods{}}
			}
			s.admitted(file, defaulted(pool))
			tried++
		}
	}
	if tried < 10 {
		t.Errorf("only %d pools among the samples", tried)
	}
}

// admitted wants each pod that the Deployments of a pool make to be admitted.
func (s *holdScene) admitted(about string, pool *v1alpha1.WarmPool) {
	s.Helper()
	s.hold(pool, 1, 1)
	deployments, err := kubernetes.NewForConfigOrDie(s.Config).
		AppsV1().
		Deployments("default").
		List(s.Context(), metav1.ListOptions{})
	if err != nil || len(deployments.Items) == 0 {
		s.Fatalf("%s: %d Deployments, %v", about, len(deployments.Items), err)
	}
	for _, d := range deployments.Items {
		pod := corev1.Pod{ObjectMeta: d.Spec.Template.ObjectMeta, Spec: d.Spec.Template.Spec}
		pod.APIVersion, pod.Kind, pod.GenerateName = "v1", "Pod", d.Name+"-"
		text, err := json.Marshal(pod)
		if err != nil {
			s.Fatal(err)
		}
		if output, err := s.Kubectl(s.T, string(text), "create", "--dry-run=server", "-f", "-"); err != nil {
			s.Errorf("%s: a placeholder is refused: %s", about, output)
		}
	}
	if err := s.actuator.Release(s.Context(), pool); err != nil {
		s.Fatal(err)
	}
}
