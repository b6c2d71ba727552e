package workloads_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/hack/casetest"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/kube/workloads"
)

// BenchmarkPods is the memory that the pods of many workloads cost: what a process has allocated until it knows them all, and
// what of it is live then, alongside the stacks of its goroutines. The kube-apiserver is a real one, and a pod has 11 kB as JSON. It
// takes some minutes, of which one is that of the limit on the reads of scales.
func BenchmarkPods(b *testing.B) {
	const namespaces, many, pods = 30, 3_000, 10_000
	c := apiservertest.Start(b)
	all := createWorkloads(b, c, namespaces, many, pods)
	for b.Loop() {
		before := settledMemory()
		watch, err := workloads.New(c.Config, workloads.Config{},
			func() []leadtime.Workload { return append([]leadtime.Workload{}, all...) }, slog.New(slog.DiscardHandler))
		if err != nil {
			b.Fatal(err)
		}
		stop := apiservertest.Background(b, func(ctx context.Context) error {
			watch.Run(ctx)
			return nil
		})
		apiservertest.Eventually(b, 10*time.Minute, func() string {
			living := 0
			for _, workload := range all {
				r, _ := watch.Replicas(workload)
				living += r.Ready
			}
			return apiservertest.Differs("pods that are known", living, pods)
		})
		after := settledMemory()
		stop()
		const mega = 1 << 20
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/mega, "live-MB")
		b.ReportMetric(float64(after.StackInuse-before.StackInuse)/mega, "stack-MB")
		b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/mega, "allocated-MB")
	}
}

// settledMemory is the memory in use without garbage.
func settledMemory() (m runtime.MemStats) {
	runtime.GC()
	runtime.GC() // The first one makes garbage of what had finalizers.
	runtime.ReadMemStats(&m)
	return m
}

// createWorkloads creates Deployments, and their pods, which are ready.
func createWorkloads(b *testing.B, c *apiservertest.Cluster, namespaces, many, pods int) (all []leadtime.Workload) {
	b.Helper()
	client, err := kubernetes.NewForConfig(c.Config)
	must(b, err)
	for i := range namespaces {
		object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("team-%d", i)}}
		_, err = client.CoreV1().Namespaces().Create(b.Context(), object, metav1.CreateOptions{})
		must(b, err)
	}
	pod := casetest.Read[corev1.Pod](b, "server.yaml")[0]
	for i := range many {
		all = append(all, leadtime.Workload{
			Namespace: fmt.Sprintf("team-%d", i%namespaces), APIVersion: "apps/v1", Kind: "Deployment",
			Name: fmt.Sprintf("llama-%d", i),
		})
	}
	inParallel(many, func(i int) {
		d := &appsv1.Deployment{}
		d.Name, d.Labels = all[i].Name, map[string]string{"app": all[i].Name}
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: d.Labels}
		d.Spec.Template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: d.Labels}, Spec: pod.Spec}
		_, err := client.AppsV1().Deployments(all[i].Namespace).Create(b.Context(), d, metav1.CreateOptions{})
		must(b, err)
	})
	inParallel(pods, func(i int) {
		workload, own, yes := all[i%many], pod.DeepCopy(), true
		own.Name = fmt.Sprintf("%s-5d4f9c7b6d-%05d", workload.Name, i)
		own.Labels["app"], own.Labels["pod-template-hash"] = workload.Name, "5d4f9c7b6d"
		own.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "ReplicaSet", Name: workload.Name + "-5d4f9c7b6d", UID: "u", Controller: &yes,
		}}
		in := client.CoreV1().Pods(workload.Namespace)
		created, err := in.Create(b.Context(), own, metav1.CreateOptions{FieldManager: "kube-controller-manager"})
		must(b, err)
		created.Status = pod.Status
		_, err = in.UpdateStatus(b.Context(), created, metav1.UpdateOptions{FieldManager: "kubelet"})
		must(b, err)
	})
	return all
}

// inParallel calls a function for each number below n.
func inParallel(n int, do func(int)) {
	var running sync.WaitGroup
	defer running.Wait()
	const workers = 16
	for first := range workers {
		running.Go(func() {
			for i := first; i < n; i += workers {
				do(i)
			}
		})
	}
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Error(err)
	}
}
