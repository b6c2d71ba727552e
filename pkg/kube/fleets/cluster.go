package fleets

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/kube/informer"
)

// Config says what may be read. Each needs a permission that the chart grants only on request.
type Config struct {
	// Nodes: nodes, and the pods of all namespaces.
	Nodes bool
	// ClusterQueues of Kueue.
	ClusterQueues bool
}

// Cluster watches what the GPUs of fleets are counted from. It is safe for concurrent use.
type Cluster struct {
	config Config
	log    *slog.Logger
	client kubernetes.Interface
	nodes  *informer.Watch[Node]
	queues *informer.Watch[Queue]

	mu sync.Mutex
	// pods has the watches of pods by namespace; metav1.NamespaceAll if the nodes are read.
	pods map[string]*podWatch
}

type podWatch struct {
	*informer.Watch[Pod]

	stop context.CancelFunc
}

// NewCluster returns a watch. It sends no requests before Run and Follow.
func NewCluster(cluster *rest.Config, config Config, log *slog.Logger) (*Cluster, error) {
	binary := rest.CopyConfig(cluster)
	// Pods and nodes are large, and this format is cheaper to decode.
	binary.ContentType = "application/vnd.kubernetes.protobuf"
	binary.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	client, err := kubernetes.NewForConfig(binary)
	if err != nil {
		return nil, fmt.Errorf("create a client for nodes and pods: %w", err)
	}
	objects, err := dynamic.NewForConfig(informer.Slim(cluster))
	if err != nil {
		return nil, fmt.Errorf("create a client for ClusterQueues: %w", err)
	}
	c := &Cluster{config: config, log: log, client: client, pods: map[string]*podWatch{}}
	c.nodes = informer.New(informer.From(client.CoreV1().Nodes(), client, ""), newNode, informer.Config[Node]{
		Name: "nodes", Advice: "upgrade the chart with fleets.nodes", Failed: c.logProblem,
	})
	queues := queueReader{client.Discovery(), objects}
	c.queues = informer.New(informer.From(queues, objects, ""), newQueue, informer.Config[Queue]{
		Name: "ClusterQueues", Advice: "install Kueue, and upgrade the chart with fleets.clusterQueues",
		Failed: c.logProblem, Index: func(q *Queue) []string { return []string{q.Name} },
	})
	return c, nil
}

func (c *Cluster) logProblem(ctx context.Context, problem *informer.ReadError) {
	c.log.WarnContext(ctx, "fleets that need this serve nothing", "reason", problem)
}

// Run watches nodes and ClusterQueues, as far as they may be read, until the context ends.
func (c *Cluster) Run(ctx context.Context) error {
	var running sync.WaitGroup
	if c.config.Nodes {
		running.Go(func() { _ = c.nodes.Run(ctx) }) //nolint:errcheck // It is nil.
	}
	if c.config.ClusterQueues {
		running.Go(func() { _ = c.queues.Run(ctx) }) //nolint:errcheck // It is nil.
	}
	running.Wait()
	<-ctx.Done()
	return nil
}

// Follow watches the pods of these namespaces, and of no others, until the context ends. It does not block.
func (c *Cluster) Follow(ctx context.Context, namespaces map[string]bool) {
	if c.config.Nodes && len(namespaces) > 0 {
		namespaces = map[string]bool{metav1.NamespaceAll: true}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, w := range c.pods {
		if !namespaces[name] {
			w.stop()
			delete(c.pods, name)
		}
	}
	for name := range namespaces {
		if c.pods[name] != nil {
			continue
		}
		own, stop := context.WithCancel(ctx)
		w := &podWatch{stop: stop}
		pods := informer.From(c.client.CoreV1().Pods(name), c.client, informer.UnfinishedPods)
		w.Watch = informer.New(pods, newPod, informer.Config[Pod]{
			Name: "pods", Verb: "list", Advice: "apply deploy/default, or upgrade the chart", Failed: c.logProblem,
		})
		c.pods[name] = w
		go func() { _ = w.Run(own) }() //nolint:errcheck // It is nil.
	}
}

// Nodes returns all nodes. The error says what to do.
func (c *Cluster) Nodes() ([]*Node, error) {
	if !c.config.Nodes {
		return nil, errors.New("nodes are not read: set fleets.nodes in the chart, or use spec.gpus.count")
	}
	if err := readError(c.nodes); err != nil {
		return nil, err
	}
	return c.nodes.List(), nil
}

// Queue returns a ClusterQueue; nil if there is none. The error says what to do.
func (c *Cluster) Queue(name string) (*Queue, error) {
	if !c.config.ClusterQueues {
		return nil, errors.New(
			"ClusterQueues are not read: set fleets.clusterQueues in the chart, or use spec.gpus.count")
	}
	if err := readError(c.queues); err != nil {
		return nil, err
	}
	for _, q := range c.queues.Indexed(name) {
		return q, nil
	}
	return nil, nil //nolint:nilnil // There is none.
}

// Pods returns the pods of a namespace that request extended resources. If nodes are read, it also returns those of other namespaces.
func (c *Cluster) Pods(namespace string) ([]*Pod, error) {
	if c.config.Nodes {
		namespace = metav1.NamespaceAll
	}
	c.mu.Lock()
	w := c.pods[namespace]
	c.mu.Unlock()
	if w == nil {
		return nil, fmt.Errorf("%w: pods", ErrUnread)
	}
	if err := readError(w.Watch); err != nil {
		return nil, err
	}
	return w.List(), nil
}

// ErrUnread: the objects have not been read yet, but soon will be.
var ErrUnread = errors.New("not read yet")

// readError returns why the objects of a watch are unknown now.
func readError[T any](w *informer.Watch[T]) error {
	if problem := w.Problem(); problem != nil {
		return errors.New(problem.Text) // The cause has different words at each attempt.
	}
	if err := w.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnread, err)
	}
	return nil
}

// Node is what is kept of a node.
type Node struct {
	Name   string
	Labels map[string]string
	// Usable: it is ready and not cordoned.
	Usable    bool
	Resources Amounts
}

func newNode(full *corev1.Node) *Node {
	n := &Node{Name: full.Name, Labels: full.Labels, Resources: extended(full.Status.Allocatable)}
	for _, c := range full.Status.Conditions {
		if c.Type == corev1.NodeReady {
			n.Usable = c.Status == corev1.ConditionTrue && !full.Spec.Unschedulable
		}
	}
	return n
}

// Queue is what is kept of a ClusterQueue.
type Queue struct {
	Name string
	// Quota is the nominal quota, summed over the flavors.
	Quota Amounts
}

// queueReader reads ClusterQueues in the version that the cluster prefers: v1beta1 and v1beta2 have the same quotas.
type queueReader struct {
	groups  discovery.ServerGroupsInterface
	objects dynamic.Interface
}

func (r queueReader) resource() (dynamic.ResourceInterface, error) {
	const group, name = "kueue.x-k8s.io", "clusterqueues"
	groups, err := r.groups.ServerGroups()
	if err != nil {
		return nil, err
	}
	for _, g := range groups.Groups {
		if g.Name == group {
			version := schema.GroupVersion{Group: group, Version: g.PreferredVersion.Version}
			return r.objects.Resource(version.WithResource(name)), nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: group, Resource: name}, "")
}

// List implements the reader of an informer.
func (r queueReader) List(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	resource, err := r.resource()
	if err != nil {
		return nil, err
	}
	return resource.List(ctx, options)
}

// Watch implements the reader of an informer.
func (r queueReader) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	resource, err := r.resource()
	if err != nil {
		return nil, err
	}
	return resource.Watch(ctx, options)
}
