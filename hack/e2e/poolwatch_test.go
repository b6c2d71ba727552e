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
	// there were a little before.
	deployments, asked, alive int
	// buffer is what the CapacityBuffers ask for together; -1 where there is none.
	buffer int
	// replicas are the real pods that there were.
	replicas int
}

// replicaLife is a real pod, by when it was made, and became ready, as the pod itself says, to the second.
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
	// made are the Deployments and CapacityBuffers that there were ever of each namespace's pool.
	made map[string]map[types.UID]bool
	// replicas are the real pods of each namespace; held are the nodes on which there was ever a placeholder of it.
	replicas map[string]map[types.UID]*replicaLife
	held     map[string]map[string]bool
	// nodes are when each node was made.
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
	// The pods come first, so that there are no more than were asked for by then.
	pods, errPods := w.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	nodes, errNodes := w.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	pools, errPools := w.objects.Resource(v1alpha1.GroupVersion().WithResource("warmpools")).
		List(ctx, metav1.ListOptions{})
	buffers, errBuffers := w.objects.Resource(capacityBuffers()).List(ctx, metav1.ListOptions{})
	deployments, errDeployments := w.client.AppsV1().
		Deployments("").
		List(ctx, metav1.ListOptions{LabelSelector: byPool})
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

// noteMade takes down an object by which a pool holds its chunks.
func (w *poolWatch) noteMade(object metav1.Object) {
	if w.made[object.GetNamespace()] == nil {
		w.made[object.GetNamespace()] = map[types.UID]bool{}
	}
	w.made[object.GetNamespace()][object.GetUID()] = true
}

// notePods takes down what is new of a namespace's pods, and counts those that are not on their way out.
func (w *poolWatch) notePods(namespace string, pods []corev1.Pod) (placeholders, replicas int) {
	if w.replicas[namespace] == nil {
		w.replicas[namespace], w.held[namespace] = map[types.UID]*replicaLife{}, map[string]bool{}
	}
	for i := range pods {
		p := &pods[i]
		switch {
		case p.Namespace != namespace || p.DeletionTimestamp != nil,
			p.Status.Phase == corev1.PodFailed, p.Status.Phase == corev1.PodSucceeded:
		case p.Labels[byPool] != "":
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

// readySince is when a pod became ready; the zero time while it is not.
func readySince(p *corev1.Pod) time.Time {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
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

// replicaStart is that of a real pod: how long it took, whether its node was made after it, so that it waited for that, and
// whether there had been a placeholder on it.
type replicaStart struct {
	took         time.Duration
	waited, held bool
}

// starts are those of the real pods of a namespace that were made from a time on. It waits for all of those that there are.
func (w *poolWatch) starts(namespace string, from time.Time) (starts []replicaStart, all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all = true
	for _, life := range w.replicas[namespace] {
		if life.created.Before(from.Truncate(time.Second)) {
			continue
		}
		if life.ready.IsZero() {
			all = false
			continue
		}
		starts = append(starts, replicaStart{
			took: life.ready.Sub(life.created), waited: w.nodes[life.node].After(life.created),
			held: w.held[namespace][life.node],
		})
	}
	return starts, all
}

// twice says what of a pool there is or was more than once, whatever its plans were: empty where nothing is. Each pool
// has one object by which it holds its chunks, the same all the time; that asks for no more than was ever planned; there
// are no more placeholders than it asked for; and the nodes, of which there were so many at most, are no more than its
// plans and its member's replicas need.
func (w *poolWatch) twice(namespace string, nodes int) string {
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

// plans tells what was planned for a namespace's pool and why, whenever that was another number, in seconds before and
// after a moment.
func (w *poolWatch) plans(namespace string, zero time.Time) string {
	var out strings.Builder
	last := int32(-1)
	for _, m := range w.since(namespace, time.Time{}) {
		if s := &m.status; s.Wanted != last && s.Why != "" {
			fmt.Fprintf(&out, "\n%+.0fs %d: %s", m.at.Sub(zero).Seconds(), s.Wanted, s.Why)
			last = s.Wanted
		}
	}
	return out.String()
}
