package neighbours_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// serving is the server of a pod, from the pod on its node to the end of its last request.
type serving struct {
	namespace, pod, address string
	begun, over             time.Time
	server                  *modelserver.Server // While it is ready.
	stop                    context.CancelFunc
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
		}
	}
	// A pod without a grace period is gone at once.
	end := func(last any) {
		if pod, ok := last.(*core.Pod); ok {
			f.end(pod.UID)
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
	ctx, stop := context.WithCancel(t.Context())
	s := &serving{
		namespace: pod.Namespace, pod: pod.Name, begun: time.Now(), stop: stop,
		// Of 127.0.0.0/8, all of which is loopback, and not where another run's servers are.
		address: fmt.Sprintf("127.%d.%d.%d", 64+os.Getpid()%128, n/250, 1+n%250),
	}
	f.replicas[pod.UID] = s
	go func() {
		if err := f.run(ctx, s); err != nil && t.Context().Err() == nil {
			t.Errorf("the server of %s/%s: %v", s.namespace, s.pod, err)
		}
	}()
}

func (f *fleet) end(uid types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.replicas[uid]; s != nil {
		s.server = nil
		s.stop()
	}
}

// run is the life of a server.
func (f *fleet) run(ctx context.Context, s *serving) error {
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		s.over = time.Now()
	}()
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(startUp):
	}
	server, err := modelserver.Start(ctx, s.address+":"+serverPort, modelserver.Default())
	if err != nil {
		return err
	}
	if err = f.report(ctx, s); err == nil {
		f.mu.Lock()
		if ctx.Err() == nil {
			s.server = server
		}
		f.mu.Unlock()
		<-ctx.Done()
	}
	drained, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	return errors.Join(err, server.Drain(drained))
}

// report reports a pod as ready, as its kubelet does.
func (f *fleet) report(ctx context.Context, s *serving) error {
	now := metav1.Now()
	status := core.PodStatus{
		Phase:     core.PodRunning,
		PodIP:     s.address,
		PodIPs:    []core.PodIP{{IP: s.address}},
		StartTime: &now,
	}
	for _, kind := range []core.PodConditionType{core.PodInitialized, core.ContainersReady, core.PodReady} {
		status.Conditions = append(status.Conditions,
			core.PodCondition{Type: kind, Status: core.ConditionTrue, LastTransitionTime: now})
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	pods := f.client.CoreV1().Pods(s.namespace)
	_, err = pods.Patch(ctx, s.pod, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if ctx.Err() != nil || apierrors.IsNotFound(err) { // It was deleted meanwhile.
		err = nil
	}
	return err
}

// ready are the servers of a namespace that are ready.
func (f *fleet) ready(namespace string) (out []*serving) {
	for _, s := range f.replicas {
		if s.namespace == namespace && s.server != nil {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *serving) int { return strings.Compare(a.pod, b.pod) })
	return out
}

// turn is the address of the next ready server of a namespace: a gateway without a picker, or one that fails open.
func (f *fleet) turn(namespace string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	ready := f.ready(namespace)
	if len(ready) == 0 {
		return ""
	}
	f.next[namespace]++
	return ready[f.next[namespace]%len(ready)].address + ":" + serverPort
}

// now is how many servers of a namespace are ready, and the requests in flight on them, and how late their steps were.
func (f *fleet) now(namespace string) (ready, inFlight float64, behind time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.ready(namespace) {
		ready++
		inFlight += float64(s.server.InFlight())
		behind = max(behind, s.server.Behind())
	}
	return ready, inFlight, behind
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

// ServeHTTP lists the ready servers for Prometheus' discovery by HTTP.
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

// post sends a request to a server and returns the time of its first byte. The answer is read to its end before done is called.
func post(ctx context.Context, address string, body []byte, done func()) (first time.Time, err error) {
	url := "http://" + address + "/v1/completions"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return first, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := servers.Do(request)
	if err != nil {
		return first, err
	}
	first = time.Now()
	defer done()
	defer response.Body.Close() //nolint:errcheck // Its end is read.
	_, err = io.Copy(io.Discard, response.Body)
	return first, err
}
