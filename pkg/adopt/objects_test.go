package adopt_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/adopt"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/signal"
)

// inCluster are a workload with GPUs, one without, a group, its part, and one that has a Forecast.
const inCluster = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: llama, namespace: team}
spec: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: "2"}, requests: {nvidia.com/gpu: "2"}}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team}
spec: {template: {spec: {containers: [{resources: {limits: {cpu: "2"}}}]}}}
---
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: large, namespace: team}
spec: {leaderWorkerTemplate: {size: 4, workerTemplate: {spec: {containers: [{resources: {limits: {amd.com/gpu: 8}}}]}}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: large-0, namespace: team, ownerReferences: [{apiVersion: x/v1, kind: LeaderWorkerSet, name: large, uid: u, controller: true}]}
spec: {template: {spec: {containers: [{resources: {limits: {amd.com/gpu: 8}}}]}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: llama, namespace: team}
spec: {template: {spec: {containers: [{resources: {limits: {google.com/tpu: 1}}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: done, namespace: team}
spec: {template: {spec: {containers: [{resources: {limits: {nvidia.com/mig-1g.10gb: 1}}}]}}}
---
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: mine, namespace: team}
spec: {targetRef: {kind: Deployment, name: done}, signal: {query: sum(a)}}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: broken, namespace: team}
spec: {triggers: 5}
`

// clusterOf is a cluster with the objects of a text, which refuses to list a resource.
func clusterOf(t *testing.T, text, refused string) *fake.FakeDynamicClient {
	t.Helper()
	kinds := map[schema.GroupVersionResource]string{}
	for kind, resource := range adopt.WorkloadKinds() {
		kinds[resource] = kind + "List"
	}
	var objects []runtime.Object
	for one := range strings.SplitSeq(text, "\n---\n") {
		object := &unstructured.Unstructured{}
		data, err := yaml.YAMLToJSON([]byte(one))
		if err == nil {
			err = object.UnmarshalJSON(data)
		}
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	cluster := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, objects...)
	cluster.PrependReactor("list", refused, func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: refused}, "", errors.New("no"))
	})
	return cluster
}

// The workloads of a cluster are those with GPUs or an autoscaler, each once; what may not be read is told.
func TestWorkloads(t *testing.T) {
	t.Parallel()
	cluster := clusterOf(t, inCluster, "horizontalpodautoscalers")
	found, err := adopt.ReadCluster(t.Context(), cluster, "team", adopt.WorkloadKinds())
	if err != nil {
		t.Fatal(err)
	}
	rows := adopt.Workloads(found)
	var got []string
	for _, w := range rows {
		got = append(got, w.ID()+" "+w.Name+" "+w.LeftOut)
	}
	want := "team/Deployment/done done-inflight it already has a Forecast: mine; " +
		"team/LeaderWorkerSet/large large-inflight ; team/Deployment/llama llama-inflight ; " +
		"team/StatefulSet/llama llama-inflight another workload already has the Forecast llama-inflight"
	if strings.Join(got, "; ") != want {
		t.Errorf("%q, want %q", got, want)
	}
	unread := strings.Join(found.Unread, "\n")
	for _, text := range []string{
		"HorizontalPodAutoscalers are not read: you are not allowed to list them (kubectl auth can-i list horizontalpodautoscalers.autoscaling -n team)",
		"ScaledObject team/broken is not read: its spec is not a valid ScaledObject",
	} {
		if !strings.Contains(unread, text) {
			t.Errorf("%q is missing: %s", text, unread)
		}
	}
}

// Forecasts are created where there is none, and nothing is created without knowing which there are.
func TestCreate(t *testing.T) {
	t.Parallel()
	const one = "apiVersion: forewarm.dev/v1alpha1\nkind: Forecast\nmetadata: {name: NAME, namespace: team}\n"
	rows := []*adopt.Workload{{Namespace: "team", Name: "new"}, {Namespace: "team", Name: "mine"}, {Namespace: "team"}}
	for _, w := range rows[:2] {
		w.Manifest = strings.Replace(one, "NAME", w.Name, 1)
	}
	found, err := adopt.ReadCluster(t.Context(), clusterOf(t, inCluster, "none"), "team", adopt.WorkloadKinds())
	if err != nil {
		t.Fatal(err)
	}
	err = adopt.Create(t.Context(), found, rows)
	if !apierrors.IsAlreadyExists(err) &&
		(err == nil || !strings.Contains(err.Error(), "create Forecast team/mine: ")) {
		t.Errorf("%v, want that there is team/mine", err)
	}
	if !rows[0].Created || rows[1].Created || rows[2].Created {
		t.Errorf("created are %v, %v and %v", rows[0].Created, rows[1].Created, rows[2].Created)
	}
	found, err = adopt.ReadCluster(t.Context(), clusterOf(t, inCluster, "forecasts"), "", adopt.WorkloadKinds())
	if err != nil {
		t.Fatal(err)
	}
	if err = adopt.Create(
		t.Context(),
		found,
		rows,
	); err == nil ||
		!strings.Contains(err.Error(), "nothing was created") {
		t.Errorf("%v, want that nothing was created", err)
	}
}

// A folder's manifests are its YAML and JSON files; a file is read whatever its name.
func TestManifestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.yaml", "b.txt", "sub/c.json", "sub/d.yml"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{"": "a.yaml sub/c.json sub/d.yml", "b.txt": "b.txt", "sub": "sub/c.json sub/d.yml"} {
		files, err := adopt.ManifestFiles(filepath.Join(dir, path))
		got := strings.ReplaceAll(filepath.ToSlash(strings.Join(files, " ")), filepath.ToSlash(dir)+"/", "")
		if err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", path, got, err, want)
		}
	}
	if _, err := adopt.ManifestFiles(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there has files")
	}
}

// A simulation that cannot be made is the verdict, and the Forecast stays.
func TestProposeSimulates(t *testing.T) {
	t.Parallel()
	twice := scaledByPods + "---\n" + strings.Replace(
		scaledByPods,
		"metadata: {name: llama}",
		"metadata: {name: other}",
		1,
	)
	onMemory := strings.Replace(scaledByPods, "{type: Pods, pods: {metric: {name: vllm_num_requests_running}, target: "+
		"{type: AverageValue, averageValue: 8}}}", onCPU, 1)
	for name, c := range map[string]struct{ manifests, verdict, scaling, why string }{
		"no history":     {scaledByPods, "not simulated: no week", "of HorizontalPodAutoscaler/llama, on Pods metric", "Keep Pods metric"},
		"two HPAs":       {twice, "not simulated: what a replica sustains is not known", " and HorizontalPodAutoscaler/other both scale it", "None is known here"},
		"another metric": {onMemory, "not simulated: what a replica sustains is not known", "HorizontalPodAutoscaler/llama on Resource metric cpu", "minReplicas"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := &adopt.Objects{}
			found.AddManifest("llama.yaml", []byte(c.manifests), "team", adopt.WorkloadKinds())
			w := adopt.Workloads(found)[0]
			err := adopt.Propose(t.Context(), adopt.Config{
				Trust:    signal.DefaultTrust(),
				Lead:     time.Minute,
				Simulate: true,
				Window:   7 * 24 * time.Hour,
				Step:     time.Minute,
				History: func(_ context.Context, query string, window, _ time.Duration) (forecast.Series, error) {
					switch {
					case window > 24*time.Hour:
						return forecast.Series{}, errors.New("no week")
					case strings.Contains(query, "vllm:") && !strings.Contains(query, "nv_inference"):
						return forecast.Series{}, nil
					}
					return forecast.Series{}, series.ErrNoSeries
				},
			}, w)
			if err != nil || w.Verdict != c.verdict || !strings.Contains(w.Scaling, c.scaling) {
				t.Errorf("%v, verdict %q, scaling %q, want %+v", err, w.Verdict, w.Scaling, c)
			}
			if !strings.Contains(w.Manifest, "kind: Forecast") || !strings.Contains(strings.Join(w.Why, "\n"), c.why) {
				t.Errorf("%q is missing:\n%s\n%q", c.why, w.Manifest, w.Why)
			}
		})
	}
}
