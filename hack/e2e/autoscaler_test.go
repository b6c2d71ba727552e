package e2e_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

// gpu is the resource for which the autoscaler adds nodes.
const gpu corev1.ResourceName = "nvidia.com/gpu"

// shape is the label of a node group; a pod selects one by its node selector.
const shape = "shape.e2e"

// expendable is Cluster Autoscaler's cutoff: it neither adds nor keeps nodes for pods of lower priority.
const expendable = -10

// autoscaler simulates a cluster's autoscaler with its cloud, and a controller of CapacityBuffers. For unschedulable
// pods that request GPUs it adds nodes of one GPU after a delay, and it removes unused nodes after another. It keeps
// capacity for CapacityBuffers and writes their statuses, like Karpenter.
type autoscaler struct {
	client  kubernetes.Interface
	objects dynamic.Interface
	// provision is the start time of a node, idle is how long an unused one stays.
	provision, idle time.Duration

	mu     sync.Mutex
	shapes map[string]*nodeGroup
}

// nodeGroup are the nodes of one shape.
type nodeGroup struct {
	coming []time.Time
	// unused is since when a node is unused.
	unused map[string]time.Time
	made   int
	// most is the maximum number of nodes, with those that are starting; seconds is the sum over all nodes.
	most    int
	seconds float64
}

// groupNeed is what is requested of a group, in GPUs, which are nodes.
type groupNeed struct {
	nodes   []string
	used    map[string]bool
	waiting int
	buffer  int
}

// autoscale runs an autoscaler until the test ends.
func (s *stage) autoscale(t *testing.T, provision, idle time.Duration) *autoscaler {
	t.Helper()
	a := &autoscaler{provision: provision, idle: idle, shapes: map[string]*nodeGroup{}}
	var err error
	if a.client, err = kubernetes.NewForConfig(s.Config); err != nil {
		t.Fatal(err)
	}
	if a.objects, err = dynamic.NewForConfig(s.Config); err != nil {
		t.Fatal(err)
	}
	last := time.Now()
	t.Cleanup(repeat(t, 250*time.Millisecond, func() error {
		now := time.Now()
		if err := a.step(t.Context(), now.Sub(last)); err != nil && t.Context().Err() == nil {
			t.Logf("autoscaler: %v", err)
		}
		last = now
		return nil
	}))
	return a
}

// step adds and removes nodes. passed is the time since the last step.
func (a *autoscaler) step(ctx context.Context, passed time.Duration) error {
	needs, err := a.needs(ctx)
	if err != nil {
		return err
	}
	// A node is provisioned from when its pod was seen: on a busy machine the listing takes a second.
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, need := range needs {
		g := a.shapes[name]
		if g == nil {
			g = &nodeGroup{unused: map[string]time.Time{}}
			a.shapes[name] = g
		}
		g.seconds += passed.Seconds() * float64(len(need.nodes))
		if err := a.reconcile(ctx, now, name, g, need); err != nil {
			return err
		}
	}
	return nil
}

// reconcile creates nodes that are due, requests missing ones, and removes unused ones.
func (a *autoscaler) reconcile(ctx context.Context, now time.Time, name string, g *nodeGroup, need *groupNeed) error {
	for len(g.coming) > 0 && !g.coming[0].After(now) {
		g.coming = g.coming[1:]
		g.made++
		node := fmt.Sprintf("%s-%d", name, g.made)
		if err := a.make(ctx, node, name); err != nil {
			return err
		}
		need.nodes = append(need.nodes, node)
	}
	free := len(need.nodes) - len(need.used)
	for missing := need.waiting + need.buffer - free - len(g.coming); missing > 0; missing-- {
		g.coming = append(g.coming, now.Add(a.provision))
	}
	g.most = max(g.most, len(need.nodes)+len(g.coming))
	surplus := free - need.waiting - need.buffer
	for _, node := range need.nodes {
		if need.used[node] || surplus <= 0 {
			delete(g.unused, node)
			continue
		}
		surplus--
		if g.unused[node].IsZero() {
			g.unused[node] = now
		}
		if now.Sub(g.unused[node]) < a.idle {
			continue
		}
		if err := a.client.CoreV1().Nodes().Delete(ctx, node, metav1.DeleteOptions{}); err != nil {
			return err
		}
		delete(g.unused, node)
	}
	return nil
}

func (a *autoscaler) make(ctx context.Context, name, kind string) error {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("512Gi"),
		corev1.ResourcePods: resource.MustParse("110"), gpu: resource.MustParse("1"),
	}
	_, err := a.client.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{shape: kind, corev1.LabelHostname: name}},
		Status:     corev1.NodeStatus{Capacity: capacity, Allocatable: capacity},
	}, metav1.CreateOptions{})
	return err
}

// needs returns what is requested of each group.
func (a *autoscaler) needs(ctx context.Context) (map[string]*groupNeed, error) {
	nodes, err := a.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	pods, err := a.client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	needs := map[string]*groupNeed{}
	of := func(kind string) *groupNeed {
		if needs[kind] == nil {
			needs[kind] = &groupNeed{used: map[string]bool{}}
		}
		return needs[kind]
	}
	for i := range nodes.Items {
		n := of(nodes.Items[i].Labels[shape])
		n.nodes = append(n.nodes, nodes.Items[i].Name)
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		n := of(p.Spec.NodeSelector[shape])
		switch {
		case p.Spec.Containers[0].Resources.Requests.Name(gpu, resource.DecimalSI).IsZero():
		case p.Spec.NodeName != "":
			n.used[p.Spec.NodeName] = true
		case unschedulable(p):
			n.waiting++
		}
	}
	return needs, a.buffers(ctx, of)
}

// unschedulable reports whether a pod needs a new node. A pod that preempts another waits for its end instead.
func unschedulable(p *corev1.Pod) bool {
	if p.Status.NominatedNodeName != "" || p.Spec.Priority != nil && *p.Spec.Priority < expendable {
		return false
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
		}
	}
	return false
}

// buffers adds what CapacityBuffers request, and writes their statuses.
func (a *autoscaler) buffers(ctx context.Context, of func(string) *groupNeed) error {
	all, err := a.objects.Resource(capacityBuffers()).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for i := range all.Items {
		if err := a.updateBuffer(ctx, &all.Items[i], of); err != nil && !apierrors.IsConflict(err) &&
			!apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// maxNodes returns the maximum number of nodes of a group, with those that were starting.
func (a *autoscaler) maxNodes(kind string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if g := a.shapes[kind]; g != nil {
		return g.most
	}
	return 0
}

// nodesMade returns how many nodes were added to a group.
func (a *autoscaler) nodesMade(kind string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if g := a.shapes[kind]; g != nil {
		return g.made
	}
	return 0
}

// hours returns the node-hours of a group, in simulated time.
func (a *autoscaler) hours(kind string) float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if g := a.shapes[kind]; g != nil {
		return g.seconds * speed / time.Hour.Seconds()
	}
	return 0
}
