package neighbours_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/forewarm/forewarm/hack/e2e/modelserver"
)

const (
	// startUp is the time from a pod on its node to a server that is ready.
	startUp = time.Minute
	// endpointLag is how long a gateway without a picker sends requests to a pod that was deleted: what the EndpointSlices' controller, and
	// the proxies that follow it, take on a busy cluster. A picker watches the pods itself.
	endpointLag = 2 * time.Second
	// serverPort is the port of a server, at the address of its pod.
	serverPort = "8000"
)

// fleet stands for the kubelets and containers of the model servers' pods: each pod has a server at an address of its own.
type fleet struct {
	client kubernetes.Interface

	mu       sync.Mutex
	replicas map[types.UID]*serving
	next     map[string]int // The turn of each namespace.
}

// serving is the server of a pod, from the pod on its node to the server's exit.
type serving struct {
	namespace, pod, address string
	uid                     types.UID
	begun, over             time.Time
	// stop is how the pod's kubelet stops it, and shutdown the server's --shutdown-timeout.
	stop     modelserver.Termination
	shutdown time.Duration
	// server is there from ready to its exit.
	server *modelserver.Server
	ready  bool
	// deleted is when the pod was deleted, and open the requests without their full answer then.
	deleted time.Time
	open    int
	// gone ends when the pod is deleted, kill when it is no more.
	gone, kill context.CancelFunc
}

// newFleet follows the pods with the label app=llama until the test ends.
func newFleet(t *testing.T, client kubernetes.Interface) *fleet {
	t.Helper()
	f := &fleet{client: client, replicas: map[types.UID]*serving{}, next: map[string]int{}}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(
		func(o *metav1.ListOptions) { o.LabelSelector = "app=llama" }))
	observe := func(object any) {
		if pod, ok := object.(*core.Pod); ok && pod.Spec.NodeName != "" {
			f.begin(t, pod)
			if pod.DeletionTimestamp != nil {
				f.end(pod.UID)
			}
		}
	}
	// Its kubelet has removed it, or someone has by force.
	end := func(last any) {
		if pod, ok := last.(*core.Pod); ok {
			f.end(pod.UID)
			f.kill(pod.UID)
		}
	}
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: observe, UpdateFunc: func(_, now any) { observe(now) }, DeleteFunc: end,
	})
	if err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	return f
}

// begin begins the server of a pod that it does not know.
func (f *fleet) begin(t *testing.T, pod *core.Pod) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.replicas[pod.UID] != nil {
		return
	}
	n := len(f.replicas)
	alive, kill := context.WithCancel(t.Context())
	wanted, gone := context.WithCancel(alive)
	s := &serving{
		namespace: pod.Namespace, pod: pod.Name, uid: pod.UID, begun: time.Now(), gone: gone, kill: kill,
		// Of 127.0.0.0/8, all of which is loopback, and not where another run's servers are.
		address: fmt.Sprintf("127.%d.%d.%d", 64+os.Getpid()%128, n/250, 1+n%250),
	}
	s.configure(t, &pod.Spec)
	f.replicas[pod.UID] = s
	go func() {
		if err := f.run(alive, wanted, s); err != nil && t.Context().Err() == nil {
			t.Errorf("the server of %s/%s: %v", s.namespace, s.pod, err)
		}
	}()
}

// configure reads what a kubelet and a server read of a pod.
func (s *serving) configure(t *testing.T, spec *core.PodSpec) {
	t.Helper()
	container := &spec.Containers[0]
	s.stop.Grace = time.Duration(*spec.TerminationGracePeriodSeconds) * time.Second
	if hooks := container.Lifecycle; hooks != nil {
		s.stop.PreStop = time.Duration(hooks.PreStop.Sleep.Seconds) * time.Second
	}
	for _, arg := range container.Args {
		var seconds int
		if _, err := fmt.Sscanf(arg, "--shutdown-timeout=%d", &seconds); err != nil {
			t.Errorf("%s/%s: the argument %q: %v", s.namespace, s.pod, arg, err)
		}
		s.shutdown = time.Duration(seconds) * time.Second
	}
}

// end is the deletion of a pod.
func (f *fleet) end(uid types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.replicas[uid]; s != nil && s.deleted.IsZero() {
		s.deleted = time.Now()
		if s.server != nil {
			s.open = s.server.Open()
		}
		s.gone()
	}
}

// kill ends the server of a pod that is no more.
func (f *fleet) kill(uid types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.replicas[uid]; s != nil {
		s.kill()
	}
}

// run is the life of a server: while its pod is wanted, and until its kubelet has stopped it and removed the pod.
func (f *fleet) run(alive, wanted context.Context, s *serving) error {
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		s.server, s.over = nil, time.Now()
	}()
	select {
	case <-wanted.Done():
		return f.remove(alive, s)
	case <-time.After(startUp):
	}
	server, err := modelserver.Start(alive, s.address+":"+serverPort, modelserver.Default(), s.shutdown)
	if err != nil {
		return err
	}
	defer server.Kill()
	if err = f.report(wanted, s); err != nil {
		return err
	}
	f.mu.Lock()
	s.server, s.ready = server, true
	f.mu.Unlock()
	<-wanted.Done()
	unready := make(chan error, 1)
	terminate := func() {
		server.Terminate(alive)
		go func() { unready <- f.report(alive, s) }()
	}
	s.stop.Stop(alive, terminate, server.Kill, server.Exited())
	if alive.Err() == nil {
		err = <-unready
	}
	return errors.Join(err, f.remove(alive, s))
}

// remove removes a pod that has stopped from the API server, as its kubelet does. The event of it ends the context of the server.
func (f *fleet) remove(ctx context.Context, s *serving) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	now := int64(0)
	err := f.client.CoreV1().Pods(s.namespace).Delete(ctx, s.pod, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &s.uid},
	})
	return unlessGone(ctx, err)
}

// unlessGone is an error, unless a pod was removed meanwhile.
func unlessGone(ctx context.Context, err error) error {
	if ctx.Err() != nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		err = nil
	}
	return err
}

// probe is a readiness probe.
func (s *serving) probe(ctx context.Context) core.ConditionStatus {
	request, err := http.NewRequestWithContext(
		ctx,
		http.MethodGet,
		"http://"+s.address+":"+serverPort+"/health",
		http.NoBody,
	)
	if err != nil {
		return core.ConditionUnknown
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return core.ConditionFalse
	}
	defer response.Body.Close() //nolint:errcheck // It is empty.
	if response.StatusCode != http.StatusOK {
		return core.ConditionFalse
	}
	return core.ConditionTrue
}

// report reports what the readiness probe of a pod says, as its kubelet does.
func (f *fleet) report(ctx context.Context, s *serving) error {
	now, ready := metav1.Now(), s.probe(ctx)
	status := core.PodStatus{
		Phase:     core.PodRunning,
		PodIP:     s.address,
		PodIPs:    []core.PodIP{{IP: s.address}},
		StartTime: &metav1.Time{Time: s.begun},
	}
	for _, kind := range []core.PodConditionType{core.PodInitialized, core.ContainersReady, core.PodReady} {
		condition := core.PodCondition{Type: kind, Status: ready, LastTransitionTime: now}
		if kind == core.PodInitialized {
			condition.Status = core.ConditionTrue
		}
		status.Conditions = append(status.Conditions, condition)
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	pods := f.client.CoreV1().Pods(s.namespace)
	_, err = pods.Patch(ctx, s.pod, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return unlessGone(ctx, err)
}

// endpoints are the servers of a namespace that a gateway without a picker knows: those that are ready, and those deleted a moment ago.
func (f *fleet) endpoints(namespace string) (out []*serving) {
	for _, s := range f.replicas {
		if s.namespace == namespace && s.known() {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *serving) int { return strings.Compare(a.pod, b.pod) })
	return out
}

// known: a server was ready, and was not deleted, or less than the endpoints' lag ago. It may have exited since.
func (s *serving) known() bool {
	if s.deleted.IsZero() {
		return s.server != nil
	}
	return s.ready && time.Since(s.deleted) < endpointLag
}

// turn is the address of the next known server of a namespace: a gateway without a picker, or one that fails open.
func (f *fleet) turn(namespace string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.endpoints(namespace)
	if len(known) == 0 {
		return ""
	}
	f.next[namespace]++
	return known[f.next[namespace]%len(known)].address + ":" + serverPort
}

// now is how many servers of a namespace are ready, the requests in flight on these and on those that drain, and how late their steps were.
func (f *fleet) now(namespace string) (ready, inFlight float64, behind time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.replicas {
		if s.namespace != namespace || s.server == nil {
			continue
		}
		if s.deleted.IsZero() {
			ready++
		}
		inFlight += float64(s.server.InFlight())
		behind = max(behind, s.server.Behind())
	}
	return ready, inFlight, behind
}

// stopped is how many ready servers of a namespace were deleted, and the requests that they had not answered in full then.
func (f *fleet) stopped(namespace string) (replicas, open int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.replicas {
		if s.namespace == namespace && s.ready && !s.deleted.IsZero() {
			replicas++
			open += s.open
		}
	}
	return replicas, open
}

// seconds is the GPU-seconds of a namespace between two times: from a pod on its node to its server's end.
func (f *fleet) seconds(namespace string, from, to time.Time) (sum float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.replicas {
		begin, end := s.begun, s.over
		if end.IsZero() || end.After(to) {
			end = to
		}
		if begin.Before(from) {
			begin = from
		}
		if s.namespace == namespace && end.After(begin) {
			sum += end.Sub(begin).Seconds()
		}
	}
	return sum
}

// ServeHTTP lists the servers, from ready to their exit, for Prometheus' discovery by HTTP.
func (f *fleet) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	type group struct {
		Targets []string          `json:"targets"`
		Labels  map[string]string `json:"labels"`
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	groups := []group{}
	for _, s := range f.replicas {
		if s.server != nil {
			labels := map[string]string{"namespace": s.namespace, "pod": s.pod}
			groups = append(groups, group{[]string{s.address + ":" + serverPort}, labels})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(groups) //nolint:errcheck // Prometheus asks again.
}

// servers is the client of all of them.
var servers = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
