package neighbours_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// exporter stands for the servers, GPUs and gateways of the pods that are ready: each load is split over the pods that serve it. At
// /truth it adds what kube-state-metrics would say if it never erred, in the same scrape, and of pods that are gone, too.
type exporter struct {
	address  string
	series   []shown
	pods     cache.SharedIndexInformer
	replicas cache.SharedIndexInformer

	mu sync.Mutex
	// loads by the label serves of the pods.
	loads map[string]float64
	// counted is what each pod has counted, in loads times seconds.
	counted map[string]float64
	serving []*core.Pod
	// began is when it started, and last when it counted for the last time.
	began, last time.Time
	// owners are the lines of all owners ever seen.
	owners map[string]bool
}

func newExporter(t *testing.T, client kubernetes.Interface, series []shown, loads map[string]float64) *exporter {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	e := &exporter{
		address: listener.Addr().
			String(),
		series:  series,
		loads:   loads,
		counted: map[string]float64{},
		owners:  map[string]bool{},
		pods: factory.Core().
			V1().
			Pods().
			Informer(),
		replicas: factory.Apps().V1().ReplicaSets().Informer(),
		began:    time.Now(),
		last:     time.Now(),
	}
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	server := &http.Server{Handler: e, ReadHeaderTimeout: time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	stop := make(chan struct{})
	go func() {
		for ticker := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-stop:
				ticker.Stop()
				return
			case <-ticker.C:
				e.observe()
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// observe counts what the pods have served since the last time, and reads which serve now.
func (e *exporter) observe() {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	for _, pod := range e.serving {
		e.counted[keyOf(pod)] += e.loadOf(pod) * now.Sub(e.last).Seconds()
	}
	e.last, e.serving = now, nil
	for _, pod := range listed[core.Pod](e.pods) {
		for _, o := range pod.OwnerReferences {
			e.owners[fmt.Sprintf("kube_pod_owner{namespace=%q,pod=%q,owner_kind=%q,owner_name=%q} 1\n",
				pod.Namespace, pod.Name, o.Kind, o.Name)] = true
		}
		if _, loaded := e.loads[serves(pod)]; loaded && pod.DeletionTimestamp == nil && ready(pod) {
			e.serving = append(e.serving, pod)
		}
	}
	for _, set := range listed[apps.ReplicaSet](e.replicas) {
		for _, o := range set.OwnerReferences {
			e.owners[fmt.Sprintf("kube_replicaset_owner{namespace=%q,replicaset=%q,owner_kind=%q,owner_name=%q} 1\n",
				set.Namespace, set.Name, o.Kind, o.Name)] = true
		}
	}
}

// listed are the objects that an informer knows.
func listed[T any](from cache.SharedIndexInformer) (out []*T) {
	for _, object := range from.GetStore().List() {
		if is, ok := object.(*T); ok {
			out = append(out, is)
		}
	}
	return out
}

// serves is whose load a pod serves: of a workload, by its namespace.
func serves(pod *core.Pod) string { return pod.Namespace + "/" + pod.Labels["serves"] }

func keyOf(pod *core.Pod) string { return pod.Namespace + "/" + pod.Name + "/" + string(pod.UID) }

func ready(pod *core.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == core.PodReady {
			return c.Status == core.ConditionTrue && pod.Status.Phase == core.PodRunning
		}
	}
	return false
}

// loadOf is a pod's part of its load.
func (e *exporter) loadOf(pod *core.Pod) float64 {
	n := 0
	for _, other := range e.serving {
		if serves(other) == serves(pod) {
			n++
		}
	}
	return e.loads[serves(pod)] / float64(n)
}

func (e *exporter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, pod := range e.serving {
		load, counted := e.loadOf(pod), e.counted[keyOf(pod)]
		for i := range e.series {
			e.series[i].write(w, pod, load, counted)
		}
	}
	e.writePools(w)
	if r.URL.Path != "/truth" {
		return
	}
	for line := range e.owners {
		fmt.Fprint(w, line)
	}
	for _, pod := range listed[core.Pod](e.pods) {
		if pod.Spec.NodeName != "" {
			gpus := pod.Spec.Containers[0].Resources.Limits["nvidia.com/gpu"]
			const series = "kube_pod_container_resource_requests{resource=\"nvidia_com_gpu\",container=\"server\"," +
				"namespace=%q,pod=%q,node=%q} %d\n"
			fmt.Fprintf(w, series, pod.Namespace, pod.Name, pod.Spec.NodeName, gpus.Value())
		}
	}
}

// write writes a series of a pod, or of an endpoint that the pool's picker reports.
func (s *shown) write(w io.Writer, pod *core.Pod, load, counted float64) {
	value := load * s.share
	if s.counter {
		value = 100 * counted * s.share
	}
	switch {
	case s.picker:
	case s.endpoint != "":
		fmt.Fprintf(w, "%s{namespace=%q,pod=%q,instance=\"picker\",%s=%q,name=%q%s} %g\n",
			s.name, pod.Namespace, picker(pod), s.endpoint, pod.Name, pod.Labels["serves"], s.fixed, value)
	default:
		fmt.Fprintf(w, "%s{namespace=%q,pod=%q,container=\"server\",instance=%[3]q,UUID=%[3]q,uuid=%[3]q%s} %g\n",
			s.name, pod.Namespace, pod.Name, s.fixed, value)
	}
}

// picker is the pod of the endpoint picker of a pod's pool.
func picker(pod *core.Pod) string { return "picker-" + pod.Labels["serves"] }

// writePools writes what the pickers report of their whole pools, while there are endpoints.
func (e *exporter) writePools(w io.Writer) {
	pools := map[string]*core.Pod{}
	for _, pod := range e.serving {
		pools[serves(pod)] = pod
	}
	for name, pod := range pools {
		for _, s := range e.series {
			if !s.picker {
				continue
			}
			value := e.loads[name] * s.share
			if s.counter {
				value *= 100 * time.Since(e.began).Seconds()
			}
			fmt.Fprintf(w, "%s{namespace=%q,pod=%q,instance=\"picker\",name=%q%s} %g\n",
				s.name, pod.Namespace, picker(pod), pod.Labels["serves"], s.fixed, value)
		}
	}
}
