package neighbours_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

func nodeClaims() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}
}

// karpenterWatch observes node claims, pods and warm pools twice a second until the test ends.
type karpenterWatch struct {
	stage *stage

	mu     sync.Mutex
	claims map[string]*claimCount
	pods   map[string]*podCount
	pools  map[string]v1alpha1.WarmPoolStatus
	// course is a line for each change of a namespace's counts.
	course map[string][]string
	last   time.Time
}

// claimCount counts the node claims of a NodePool.
type claimCount struct {
	made map[types.UID]bool
	now  []string
	// seconds is the sum of the times for which they existed.
	seconds float64
}

// podCount counts a namespace's pods.
type podCount struct {
	// placeholders that exist, and those of them that run; idle is the sum of the times for which they ran.
	placeholders, running int
	idle                  float64
	lives                 map[types.UID]*podLife
	// held are the nodes that ever had a placeholder.
	held map[string]bool
}

// podLife is the life of a pod that is no placeholder.
type podLife struct {
	created, ready time.Time
	node           string
}

func (s *stage) watch(t *testing.T) *karpenterWatch {
	t.Helper()
	w := &karpenterWatch{
		stage: s, claims: map[string]*claimCount{}, pods: map[string]*podCount{},
		pools: map[string]v1alpha1.WarmPoolStatus{}, course: map[string][]string{}, last: time.Now(),
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for t.Context().Err() == nil {
			if err := w.observe(t.Context()); err != nil && t.Context().Err() == nil {
				t.Error(err)
				return
			}
			time.Sleep(500 * time.Millisecond)
		}
	}()
	t.Cleanup(func() { <-over })
	return w
}

func (w *karpenterWatch) observe(ctx context.Context) error {
	claims, errClaims := w.stage.objects.Resource(nodeClaims()).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(errClaims) { // Karpenter comes later.
		claims, errClaims = &unstructured.UnstructuredList{}, nil
	}
	pods, errPods := w.stage.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	pools, errPools := w.stage.objects.Resource(v1alpha1.GroupVersion().WithResource("warmpools")).
		List(ctx, metav1.ListOptions{})
	if err := errors.Join(errClaims, errPods, errPools); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	passed := time.Since(w.last).Seconds()
	w.last = time.Now()
	for _, c := range w.claims {
		c.now = nil
	}
	for i := range claims.Items {
		c := w.claimsOf(claims.Items[i].GetLabels()["karpenter.sh/nodepool"])
		c.made[claims.Items[i].GetUID()] = true
		c.now = append(c.now, claims.Items[i].GetName())
	}
	for _, c := range w.claims {
		c.seconds += passed * float64(len(c.now))
	}
	w.notePods(pods.Items, passed)
	for i := range pools.Items {
		read := &v1alpha1.WarmPool{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(pools.Items[i].Object, read); err != nil {
			return err
		}
		w.pools[read.Namespace] = read.Status
		w.note(read.Namespace)
	}
	return nil
}

func (w *karpenterWatch) claimsOf(nodePool string) *claimCount {
	if w.claims[nodePool] == nil {
		w.claims[nodePool] = &claimCount{made: map[types.UID]bool{}}
	}
	return w.claims[nodePool]
}

func (w *karpenterWatch) podsOf(namespace string) *podCount {
	if w.pods[namespace] == nil {
		w.pods[namespace] = &podCount{lives: map[types.UID]*podLife{}, held: map[string]bool{}}
	}
	return w.pods[namespace]
}

func (w *karpenterWatch) notePods(pods []corev1.Pod, passed float64) {
	for _, c := range w.pods {
		c.idle += passed * float64(c.running)
		c.placeholders, c.running = 0, 0
	}
	for i := range pods {
		p := &pods[i]
		c := w.podsOf(p.Namespace)
		switch {
		case p.DeletionTimestamp != nil:
		case p.Labels["forewarm.dev/warm-pool"] != "":
			c.placeholders++
			if p.Status.Phase == corev1.PodRunning {
				c.running++
				c.held[p.Spec.NodeName] = true
			}
		default:
			c.lives[p.UID] = &podLife{created: p.CreationTimestamp.Time, ready: readySince(p), node: p.Spec.NodeName}
		}
	}
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

// note adds to the course of a namespace what changed in it.
func (w *karpenterWatch) note(namespace string) {
	pool, pods := w.pools[namespace], w.podsOf(namespace)
	line := fmt.Sprintf("%d/%d/%d/%d, %d claims, %d placeholders, %d run", pool.Wanted, pool.Held, pool.Ready,
		pool.Borrowed, w.claimsIn(namespace), pods.placeholders, pods.running)
	all := w.course[namespace]
	if len(all) == 0 || !strings.HasSuffix(all[len(all)-1], " "+line) {
		w.course[namespace] = append(all, fmt.Sprintf("%.0f s %s", time.Since(w.stage.begin).Seconds(), line))
	}
}

// claimsIn returns how many node claims there are in the node pools of a namespace, which are called like it.
func (w *karpenterWatch) claimsIn(namespace string) (n int) {
	for name, c := range w.claims {
		if name == namespace || strings.HasPrefix(name, namespace+"-") {
			n += len(c.now)
		}
	}
	return n
}

// courseOf returns the course of a namespace: wanted, held, ready and borrowed chunks, node claims and placeholders.
func (w *karpenterWatch) courseOf(namespace string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.course[namespace], "\n")
}

// counted returns how many claims of a node pool there have been, and how many there are.
func (w *karpenterWatch) counted(nodePool string) (made, now int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.claimsOf(nodePool)
	return len(c.made), len(c.now)
}

// claimNames returns the names of a node pool's claims.
func (w *karpenterWatch) claimNames(nodePool string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.claimsOf(nodePool).now)
}

// status returns the newest status of a namespace's pool.
func (w *karpenterWatch) status(namespace string) v1alpha1.WarmPoolStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pools[namespace]
}

// hours returns the GPU-hours for which a namespace's placeholders ran, and those of a node pool of single GPUs.
func (w *karpenterWatch) hours(namespace string) (idle, nodes float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.podsOf(namespace).idle / 3600, w.claimsOf(namespace).seconds / 3600
}

// started returns the durations of the starts of a namespace's pods that were created from a time on, the shortest
// first, how many of them are on nodes of placeholders, and how many are not ready.
func (w *karpenterWatch) started(namespace string, from time.Time) (took []time.Duration, held, left int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.podsOf(namespace)
	for life := range maps.Values(c.lives) {
		switch {
		case life.created.Before(from.Truncate(time.Second)):
			continue
		case life.ready.IsZero():
			left++
			continue
		case c.held[life.node]:
			held++
		}
		took = append(took, life.ready.Sub(life.created))
	}
	slices.Sort(took)
	return took, held, left
}

// waitPool waits until a pool's status is as wanted.
func (w *karpenterWatch) waitPool(t *testing.T, ns, what string, is func(v1alpha1.WarmPoolStatus) bool) {
	t.Helper()
	clustertest.MustEventually(t, func() string {
		if status := w.status(ns); !is(status) {
			return fmt.Sprintf("%s is not %s: %+v\n%s", ns, what, status, w.courseOf(ns))
		}
		return ""
	})
	w.stage.log(t, "%s: %s", ns, what)
}

// waitCondition waits until the condition Actuated of a pool is False with a reason and words of its message.
func (w *karpenterWatch) waitCondition(t *testing.T, ns, reason string, words ...string) {
	t.Helper()
	message := ""
	w.waitPool(t, ns, reason, func(p v1alpha1.WarmPoolStatus) bool {
		c := meta.FindStatusCondition(p.Conditions, v1alpha1.PoolConditionActuated)
		if c == nil || c.Status != metav1.ConditionFalse || c.Reason != reason {
			return false
		}
		message = c.Message
		return true
	})
	for _, word := range words {
		if !strings.Contains(message, word) {
			t.Errorf("%s: %q is not in the condition: %s", ns, word, message)
		}
	}
	w.stage.log(t, "%s: %s", ns, message)
}

// full reports whether a pool holds a number of chunks or more, and all are ready.
func full(least int32) func(v1alpha1.WarmPoolStatus) bool {
	return func(s v1alpha1.WarmPoolStatus) bool { return s.Held >= least && s.Ready == s.Held }
}
