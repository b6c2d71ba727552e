package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

// byPool is the label of what a pool has made.
const byPool = "forewarm.dev/warm-pool"

// moment is what was seen of a namespace's pool at a time.
type moment struct {
	at     time.Time
	status v1alpha1.WarmPoolStatus
	// deployments are how many Deployments the pool has, asked how many placeholders they ask for together, alive how many
	// there are.
	deployments, asked, alive int
	// buffer is what the CapacityBuffer asks for; -1 where there is none.
	buffer int
}

// replicaLife is a real pod, by when it was first seen, and seen ready.
type replicaLife struct {
	created, ready time.Time
	node           string
}

// poolWatch looks at all pools and pods twice a second, for as long as the test.
type poolWatch struct {
	client  kubernetes.Interface
	objects dynamic.Interface

	mu      sync.Mutex
	moments map[string][]moment
	// replicas are the real pods of each namespace; held are the nodes on which there was ever a placeholder of it.
	replicas map[string]map[types.UID]*replicaLife
	held     map[string]map[string]bool
}

func (s *stage) watchPools(t *testing.T) *poolWatch {
	t.Helper()
	w := &poolWatch{
		moments:  map[string][]moment{},
		replicas: map[string]map[types.UID]*replicaLife{},
		held:     map[string]map[string]bool{},
	}
	var err error
	if w.client, err = kubernetes.NewForConfig(s.Config); err != nil {
		t.Fatal(err)
	}
	if w.objects, err = dynamic.NewForConfig(s.Config); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		for ; ctx.Err() == nil; time.Sleep(500 * time.Millisecond) {
			if err := w.look(ctx); err != nil && ctx.Err() == nil {
				t.Errorf("watch the pools: %v", err)
				return
			}
		}
	}()
	t.Cleanup(func() { stop(); <-over })
	return w
}

func (w *poolWatch) look(ctx context.Context) error {
	pools, errPools := w.objects.Resource(v1alpha1.GroupVersion().WithResource("warmpools")).
		List(ctx, metav1.ListOptions{})
	buffers, errBuffers := w.objects.Resource(capacityBuffers()).List(ctx, metav1.ListOptions{})
	deployments, errDeployments := w.client.AppsV1().
		Deployments("").
		List(ctx, metav1.ListOptions{LabelSelector: byPool})
	pods, errPods := w.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err := errors.Join(errPools, errBuffers, errDeployments, errPods); err != nil {
		return err
	}
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range pools.Items {
		m, err := momentOf(&pools.Items[i], buffers.Items, deployments.Items)
		if err != nil {
			return err
		}
		m.at = now
		m.alive = w.notePods(now, pools.Items[i].GetNamespace(), pods.Items)
		w.moments[pools.Items[i].GetNamespace()] = append(w.moments[pools.Items[i].GetNamespace()], m)
	}
	w.notePods(now, without, pods.Items)
	return nil
}

func momentOf(
	pool *unstructured.Unstructured, buffers []unstructured.Unstructured, deployments []appsv1.Deployment,
) (moment, error) {
	read := &v1alpha1.WarmPool{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(pool.Object, read); err != nil {
		return moment{}, err
	}
	m := moment{status: read.Status, buffer: -1}
	for i := range deployments {
		if deployments[i].Namespace == pool.GetNamespace() {
			m.deployments++
			m.asked += int(*deployments[i].Spec.Replicas)
		}
	}
	for i := range buffers {
		if buffers[i].GetNamespace() != pool.GetNamespace() {
			continue
		}
		replicas, _, err := unstructured.NestedInt64(buffers[i].Object, "spec", "replicas")
		if err != nil {
			return moment{}, err
		}
		m.buffer = int(replicas)
	}
	return m, nil
}

// notePods takes down what is new of a namespace's pods, and counts its placeholders.
func (w *poolWatch) notePods(now time.Time, namespace string, pods []corev1.Pod) (placeholders int) {
	if w.replicas[namespace] == nil {
		w.replicas[namespace], w.held[namespace] = map[types.UID]*replicaLife{}, map[string]bool{}
	}
	for i := range pods {
		p := &pods[i]
		switch {
		case p.Namespace != namespace || p.DeletionTimestamp != nil:
		case p.Labels[byPool] != "":
			placeholders++
			if p.Spec.NodeName != "" {
				w.held[namespace][p.Spec.NodeName] = true
			}
		default:
			life := w.replicas[namespace][p.UID]
			if life == nil {
				life = &replicaLife{created: now}
				w.replicas[namespace][p.UID] = life
			}
			life.node = p.Spec.NodeName
			if life.ready.IsZero() && ready(p) {
				life.ready = now
			}
		}
	}
	return placeholders
}

func ready(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// last is the newest moment of a namespace's pool.
func (w *poolWatch) last(namespace string) moment {
	w.mu.Lock()
	defer w.mu.Unlock()
	if all := w.moments[namespace]; len(all) > 0 {
		return all[len(all)-1]
	}
	return moment{buffer: -1}
}

// since are the moments of a namespace's pool from a time on.
func (w *poolWatch) since(namespace string, from time.Time) []moment {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []moment
	for _, m := range w.moments[namespace] {
		if !m.at.Before(from) {
			out = append(out, m)
		}
	}
	return out
}

// starts are how long the real pods of a namespace took that were made from a time on, and on how many of their nodes there
// had been a placeholder. It waits for all of those that there are.
func (w *poolWatch) starts(namespace string, from time.Time) (took []time.Duration, onHeld int, all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all = true
	for _, life := range w.replicas[namespace] {
		if life.created.Before(from) {
			continue
		}
		if life.ready.IsZero() {
			all = false
			continue
		}
		took = append(took, life.ready.Sub(life.created))
		if w.held[namespace][life.node] {
			onHeld++
		}
	}
	return took, onHeld, all
}

// idle are the GPU-hours that the placeholders of a namespace have stood ready, in the time that the scenario stands for.
func (w *poolWatch) idle(namespace string) float64 {
	all, seconds := w.since(namespace, time.Time{}), 0.0
	for i := 1; i < len(all); i++ {
		seconds += float64(all[i].status.Ready) * all[i].at.Sub(all[i-1].at).Seconds()
	}
	return seconds * speed / time.Hour.Seconds()
}

// course tells how a namespace's pool went, in seconds before and after a moment: wanted, held, ready and borrowed.
func (w *poolWatch) course(namespace string, zero time.Time) string {
	var out strings.Builder
	last := ""
	for _, m := range w.since(namespace, time.Time{}) {
		s := &m.status
		if now := fmt.Sprintf("%d/%d/%d/%d", s.Wanted, s.Held, s.Ready, s.Borrowed); now != last {
			fmt.Fprintf(&out, " %+.0fs %s", m.at.Sub(zero).Seconds(), now)
			last = now
		}
	}
	return out.String()
}
