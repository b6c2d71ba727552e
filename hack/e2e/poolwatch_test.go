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

// poolLabel is the label of a pool's objects.
const poolLabel = "forewarm.dev/warm-pool"

// moment is an observation of a namespace's pool.
type moment struct {
	at     time.Time
	status v1alpha1.WarmPoolStatus
	// deployments of the pool, asked: the placeholder pods that they request together, alive: those that existed a
	// little before.
	deployments, asked, alive int
	// buffer is what the CapacityBuffers request together; -1 where there is none.
	buffer int
	// replicas are the real pods.
	replicas int
}

// replicaLife is the creation time and the ready time of a real pod, in seconds, and its node.
type replicaLife struct {
	created, ready time.Time
	node           string
}

// poolWatch observes all pools and pods twice a second until the test ends.
type poolWatch struct {
	client  kubernetes.Interface
	objects dynamic.Interface

	mu      sync.Mutex
	moments map[string][]moment
	// made are all Deployments and CapacityBuffers that each namespace's pool ever had.
	made map[string]map[types.UID]bool
	// replicas are the real pods of each namespace; held are the nodes that ever had one of its placeholder pods.
	replicas map[string]map[types.UID]*replicaLife
	held     map[string]map[string]bool
	// nodes are the creation times of the nodes.
	nodes map[string]time.Time
}

func (s *stage) watchPools(t *testing.T) *poolWatch {
	t.Helper()
	w := &poolWatch{
		moments:  map[string][]moment{},
		made:     map[string]map[types.UID]bool{},
		replicas: map[string]map[types.UID]*replicaLife{},
		held:     map[string]map[string]bool{},
		nodes:    map[string]time.Time{},
	}
	var err error
	if w.client, err = kubernetes.NewForConfig(s.Config); err != nil {
		t.Fatal(err)
	}
	if w.objects, err = dynamic.NewForConfig(s.Config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(repeat(t, 500*time.Millisecond, func() error { return w.observe(t.Context()) }))
	return w
}

func (w *poolWatch) observe(ctx context.Context) error {
	// Pods are listed first, so that they cannot exceed what is requested later.
	pods, errPods := w.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	nodes, errNodes := w.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	pools, errPools := w.objects.Resource(v1alpha1.GroupVersion().WithResource("warmpools")).
		List(ctx, metav1.ListOptions{})
	buffers, errBuffers := w.objects.Resource(capacityBuffers()).List(ctx, metav1.ListOptions{})
	deployments, errDeployments := w.client.AppsV1().
		Deployments("").
		List(ctx, metav1.ListOptions{LabelSelector: poolLabel})
	if err := errors.Join(errPods, errNodes, errPools, errBuffers, errDeployments); err != nil {
		return err
	}
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range nodes.Items {
		w.nodes[nodes.Items[i].Name] = nodes.Items[i].CreationTimestamp.Time
	}
	for i := range deployments.Items {
		w.noteMade(&deployments.Items[i])
	}
	for i := range buffers.Items {
		w.noteMade(&buffers.Items[i])
	}
	for i := range pools.Items {
		m, err := momentOf(&pools.Items[i], buffers.Items, deployments.Items)
		if err != nil {
			return err
		}
		m.at = now
		m.alive, m.replicas = w.notePods(pools.Items[i].GetNamespace(), pods.Items)
		w.moments[pools.Items[i].GetNamespace()] = append(w.moments[pools.Items[i].GetNamespace()], m)
	}
	w.notePods(without, pods.Items)
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
		m.buffer = max(m.buffer, 0) + int(replicas)
	}
	return m, nil
}

// noteMade records an object by which a pool holds its chunks.
func (w *poolWatch) noteMade(object metav1.Object) {
	if w.made[object.GetNamespace()] == nil {
		w.made[object.GetNamespace()] = map[types.UID]bool{}
	}
	w.made[object.GetNamespace()][object.GetUID()] = true
}

// notePods records the pods of a namespace, and counts those that are not terminating.
func (w *poolWatch) notePods(namespace string, pods []corev1.Pod) (placeholders, replicas int) {
	if w.replicas[namespace] == nil {
		w.replicas[namespace], w.held[namespace] = map[types.UID]*replicaLife{}, map[string]bool{}
	}
	for i := range pods {
		p := &pods[i]
		switch {
		case p.Namespace != namespace || p.DeletionTimestamp != nil,
			p.Status.Phase == corev1.PodFailed, p.Status.Phase == corev1.PodSucceeded:
		case p.Labels[poolLabel] != "":
			placeholders++
			if p.Spec.NodeName != "" {
				w.held[namespace][p.Spec.NodeName] = true
			}
		default:
			replicas++
			life := w.replicas[namespace][p.UID]
			if life == nil {
				life = &replicaLife{created: p.CreationTimestamp.Time}
				w.replicas[namespace][p.UID] = life
			}
			life.node = p.Spec.NodeName
			if life.ready.IsZero() {
				life.ready = readySince(p)
			}
		}
	}
	return placeholders, replicas
}

// readySince returns when a pod became ready; the zero time while it is not.
func readySince(p *corev1.Pod) time.Time {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// last returns the newest observation of a namespace's pool.
func (w *poolWatch) last(namespace string) moment {
	w.mu.Lock()
	defer w.mu.Unlock()
	if all := w.moments[namespace]; len(all) > 0 {
		return all[len(all)-1]
	}
	return moment{buffer: -1}
}

// since returns the observations of a namespace's pool from a time on.
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

// replicaStart is the start of a real pod: how long it took, whether it waited for a node that was asked for after the first of
// the starts, and whether its node had a placeholder pod before. The node that a placeholder asked for may come with the replica, which then takes it
// first.
type replicaStart struct {
	took         time.Duration
	waited, held bool
}

// starts returns the starts of a namespace's real pods that were created from a time on, and whether all of them are
// ready.
func (w *poolWatch) starts(namespace string, from time.Time) (starts []replicaStart, all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all = true
	var lives []*replicaLife
	first := time.Now()
	for _, life := range w.replicas[namespace] {
		if life.created.Before(from.Truncate(time.Second)) {
			continue
		}
		lives = append(lives, life)
		if life.created.Before(first) {
			first = life.created
		}
	}
	for _, life := range lives {
		if life.ready.IsZero() {
			all = false
			continue
		}
		starts = append(starts, replicaStart{
			took: life.ready.Sub(life.created),
			// Nodes are not reserved: a pod may take the one that its elder sibling asked for.
			waited: w.nodes[life.node].Sub(first) >= provision,
			held:   w.held[namespace][life.node],
		})
	}
	return starts, all
}

// duplicates returns what a pool has or had more than once; empty where there is nothing. Each pool has one object by
// which it holds its chunks, always the same. It requests no more than was ever planned. There are no more
// placeholder pods than requested. The nodes, at most so many, are no more than the plans and the member's replicas
// need.
func (w *poolWatch) duplicates(namespace string, nodes int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if made := len(w.made[namespace]); made != 1 {
		return fmt.Sprintf("%s: the chunks were held by %d Deployments and CapacityBuffers, want one", namespace, made)
	}
	var wanted, replicas, asked int
	for _, m := range w.moments[namespace] {
		wanted, replicas = max(wanted, int(m.status.Wanted)), max(replicas, m.replicas)
		asked = max(asked, m.asked+max(m.buffer, 0))
		if m.alive > asked {
			return fmt.Sprintf("%s: %d placeholders of the %d asked for", namespace, m.alive, asked)
		}
	}
	switch {
	case asked > wanted:
		return fmt.Sprintf("%s: %d chunks were asked for, %d were planned at most", namespace, asked, wanted)
	case nodes > wanted+replicas:
		return fmt.Sprintf("%s: %d nodes for %d planned chunks and %d replicas", namespace, nodes, wanted, replicas)
	}
	return ""
}

// idle returns the GPU-hours for which the placeholder pods of a namespace were ready, in simulated time.
func (w *poolWatch) idle(namespace string) float64 {
	all, seconds := w.since(namespace, time.Time{}), 0.0
	for i := 1; i < len(all); i++ {
		seconds += float64(all[i].status.Ready) * all[i].at.Sub(all[i-1].at).Seconds()
	}
	return seconds * speed / time.Hour.Seconds()
}

// timeline returns wanted/held/ready/borrowed of a namespace's pool whenever they changed, in seconds relative to a
// time.
func (w *poolWatch) timeline(namespace string, zero time.Time) string {
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

// plans returns the plan of a namespace's pool and its reason whenever the number changed, in seconds relative to a
// time.
func (w *poolWatch) plans(namespace string, zero time.Time) string {
	var out strings.Builder
	last := int32(-1)
	for _, m := range w.since(namespace, time.Time{}) {
		if s := &m.status; s.Wanted != last && s.Message != "" {
			fmt.Fprintf(&out, "\n%+.0fs %d: %s", m.at.Sub(zero).Seconds(), s.Wanted, s.Message)
			last = s.Wanted
		}
	}
	return out.String()
}
