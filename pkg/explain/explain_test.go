package explain_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/explain"
	offline "github.com/forewarm/forewarm/pkg/offline/explain"
)

// The clusters of the command's scripts: by path, with or without its query, an object in YAML, or that it is forbidden.
const clusters = "../../cmd/forewarm/internal/cli/testdata/clusters"

// aged matches a time that is given by its age.
var aged = regexp.MustCompile(`\bago\((\w+)\)`)

// clusterOf is the healthy cluster, with the answers of another and of a test in the place of its own.
func clusterOf(t *testing.T, name string, own map[string]string) *rest.Config {
	t.Helper()
	objects := map[string]string{}
	for _, file := range []string{"healthy", name} {
		text, err := os.ReadFile(path.Join(clusters, file+".yaml"))
		if err == nil {
			err = yaml.Unmarshal(text, &objects)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	maps.Copy(objects, own)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, found := objects[r.URL.RequestURI()]
		if !found {
			text = objects[r.URL.Path]
		}
		const status = "{kind: Status, apiVersion: v1, status: Failure, code: %d, reason: %s, message: %s}"
		code := http.StatusOK
		switch text {
		case "":
			code, text = http.StatusNotFound, fmt.Sprintf(status, http.StatusNotFound, "NotFound", "not found")
		case "forbidden":
			code, text = http.StatusForbidden, fmt.Sprintf(status, http.StatusForbidden, "Forbidden", "you may not")
		}
		text = aged.ReplaceAllStringFunc(text, func(age string) string {
			since, _ := time.ParseDuration(aged.FindStringSubmatch(age)[1]) //nolint:errcheck // A fixture's.
			return time.Now().Add(-since).UTC().Format(time.RFC3339)
		})
		data, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			panic(err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		w.Write(data) //nolint:errcheck // A client that is gone needs no answer.
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

const (
	llama    = "/apis/autoscaling/v2/namespaces/inference/horizontalpodautoscalers/llama"
	external = "/apis/external.metrics.k8s.io/v1beta1/namespaces/inference/llama"
	outlook  = "/apis/inspect.forewarm.dev/v1alpha1/namespaces/inference/outlooks/llama"
)

// byPods is an HPA with Value targets, which count the ready pods: an External metric and an Object metric.
const byPods = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llama, namespace: inference}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llama}
  maxReplicas: 20
  metrics:
  - {type: External, external: {metric: {name: llama}, target: {type: Value, value: "10"}}}
  - {type: Object, object: {metric: {name: demand}, describedObject: {apiVersion: apps/v1, kind: Deployment, name: llama}, target: {type: Value, value: "10"}}}
status: {currentReplicas: 12, desiredReplicas: 12, conditions: [{type: AbleToScale, status: "True"}]}
`

// What is read of a cluster is in the explanation; what is not is said in the server's words.
func TestFromCluster(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cluster  string
		own      map[string]string
		kind     string
		unknown  []string
		warnings []string
	}{
		"healthy":       {cluster: "healthy"},
		"of KEDA":       {cluster: "keda", kind: hpa.KindScaledObject, warnings: []string{"KEDA creates this HPA from ScaledObject llama"}},
		"two":           {cluster: "two", warnings: []string{"also scaled by HorizontalPodAutoscaler/other"}},
		"covered":       {cluster: "covered", warnings: []string{"3 of the 5 pods created since"}},
		"ailing":        {cluster: "ailing", warnings: []string{"from 40 to 99", "since 11:40 it stays at 120"}},
		"no more cover": {cluster: "covered-no-more"},
		"few rights": {cluster: "few-rights", unknown: []string{
			"the scale of Deployment/llama (the HPA's status is used instead): you may not",
			"metric llama (the HPA's status is used instead): you may not", "the outlook of Forecast llama: you may not",
			"other HPAs of the same target: you may not",
		}},
		"Forecasts that may not be listed": {
			cluster: "healthy",
			own:     map[string]string{outlook: "", "/apis/forewarm.dev/v1alpha1/namespaces/inference/forecasts": "forbidden"},
			unknown: []string{"whether a Forecast exposes llama: you may not"},
		},
		"pods that may not be listed": {
			cluster: "healthy",
			own:     map[string]string{llama: byPods, "/api/v1/namespaces/inference/pods": "forbidden"},
			unknown: []string{"the ready pods of Deployment/llama (all pods are assumed to be ready): you may not"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := explain.FromCluster(t.Context(), explain.Config{
				Cluster: clusterOf(
					t,
					c.cluster,
					c.own,
				),
				Namespace: "inference",
				Kind:      c.kind,
				Name:      "llama",
				Now:       time.Now,
			})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(e.Unknown, "\n") != strings.Join(c.unknown, "\n") {
				t.Errorf("unknown %q, want %q", e.Unknown, c.unknown)
			}
			var warnings []string
			for _, w := range e.Warnings {
				warnings = append(warnings, w.Message)
			}
			if name == "no more cover" && strings.Contains(strings.Join(warnings, "\n"), "pods created since") {
				t.Errorf("a pool that covers nothing is blamed: %q", warnings)
			}
			for _, want := range c.warnings {
				if !strings.Contains(strings.Join(warnings, "\n"), want) {
					t.Errorf("%q is missing: %q", want, warnings)
				}
			}
		})
	}
}

// An autoscaler that is not there, or whose metric cannot be read, is told as the API server does.
func TestFromClusterErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ kind, want string }{
		"nothing": {"", "read HorizontalPodAutoscaler inference/nothing: not found"},
		"missing": {hpa.KindScaledObject, "read ScaledObject inference/missing: not found"},
		"paused":  {hpa.KindScaledObject, "KEDA has created no HPA for ScaledObject inference/paused, or it is paused"},
	} {
		_, err := explain.FromCluster(t.Context(), explain.Config{
			Cluster: clusterOf(t, "healthy", map[string]string{
				"/apis/keda.sh/v1alpha1/namespaces/inference/scaledobjects/paused": "{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: paused}}",
			}), Namespace: "inference", Kind: c.kind, Name: name, Now: time.Now,
		})
		if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	const broken = "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: llama, namespace: inference}, " +
		"spec: {metrics: [{type: External, external: {metric: {name: llama}, target: {type: AverageValue}}}]}}"
	_, err := explain.FromCluster(t.Context(), explain.Config{
		Cluster: clusterOf(
			t,
			"healthy",
			map[string]string{llama: broken},
		),
		Namespace: "inference",
		Name:      "llama",
		Now:       time.Now,
	})
	if err == nil || !strings.Contains(err.Error(), "its averageValue is not above 0") {
		t.Errorf("%v, want what is wrong with the metric", err)
	}
}

// The readings of an External and an Object metric are those of their APIs, per ready pod for a Value.
func TestFromClusterReadings(t *testing.T) {
	t.Parallel()
	const objectPath = "/apis/custom.metrics.k8s.io/v1beta1/namespaces/inference/deployments.apps/llama/demand"
	value := func(v string) string { return `{items: [{metricName: demand, value: "` + v + `"}]}` }
	e, err := explain.FromCluster(t.Context(), explain.Config{
		Cluster: clusterOf(t, "healthy", map[string]string{
			llama: byPods, external: value("1e30"), objectPath: value("25"), outlook: "",
			"/api/v1/namespaces/inference/pods": `{items: [
				{metadata: {name: a}, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}},
				{metadata: {name: b}, status: {phase: Running, conditions: [{type: Ready, status: "False"}]}},
				{metadata: {name: c}, status: {phase: Pending}}]}`,
		}), Namespace: "inference", Name: "llama", Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range e.Metrics {
		got = append(got, fmt.Sprintf("%s from %s: %g", m.Name, m.From, *m.Value))
	}
	const want = "llama from external.metrics.k8s.io: 9.223372036854776e+15; demand from custom.metrics.k8s.io: 25"
	if strings.Join(got, "; ") != want {
		t.Errorf("%q, want %q", got, want)
	}
	// Of three pods one is ready, for which 25 is two and a half times the target.
	if last := e.Metrics[1].Proposes; last == nil || *last != 3 {
		t.Errorf("demand proposes %v replicas, want 3", last)
	}
}

const inFile = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llama}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llama}
  maxReplicas: 20
  metrics:
  - {type: External, external: {metric: {name: queue}, target: {type: AverageValue, averageValue: "10"}}}
`

const further = `  - {type: External, external: {metric: {name: tokens}, target: {type: Value, value: "500"}}}
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}
`

const status = `status:
  currentReplicas: 4
  desiredReplicas: 4
  conditions: [{type: AbleToScale, status: "True"}]
  currentMetrics: [{type: External, external: {metric: {name: queue}, current: {averageValue: "8"}}}]
`

// A file's autoscaler is computed from what is given, else from its status; what is missing is asked for.
func TestFromFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text            string
		values          []string
		replicas, ready int32
		desired         int32
		wrong           string
	}{
		"the only metric":     {text: inFile, values: []string{"95"}, replicas: 4, ready: explain.Unset, desired: 8},
		"by its name":         {text: inFile, values: []string{"queue=70"}, replicas: 5, ready: explain.Unset, desired: 7},
		"several":             {text: inFile + further, values: []string{"queue=30", "tokens=0.9k"}, replicas: 5, ready: 4, desired: 8},
		"the status":          {text: inFile + status, replicas: explain.Unset, ready: explain.Unset, desired: 4},
		"no replicas":         {text: inFile, values: []string{"70"}, replicas: explain.Unset, ready: explain.Unset, wrong: "add for example --replicas 12"},
		"more are ready":      {text: inFile, values: []string{"70"}, replicas: 3, ready: 4, wrong: "--ready 4 is more than the 3 replicas"},
		"no value":            {text: inFile, replicas: 3, ready: explain.Unset, wrong: "values of metrics are missing: add --value queue=180"},
		"no name":             {text: inFile + further, values: []string{"70"}, replicas: 3, wrong: `2 metrics that can be computed (queue, tokens; not computed: cpu of type Resource): write NAME=VALUE`},
		"an unknown name":     {text: inFile, values: []string{"x=70"}, replicas: 3, wrong: `"x=70": the file's autoscaler has no metric of this name that can be computed (queue)`},
		"twice":               {text: inFile, values: []string{"70", "queue=80"}, replicas: 3, wrong: `--value for "queue" is given twice`},
		"no quantity":         {text: inFile, values: []string{"many"}, replicas: 3, wrong: `"many" is not a quantity`},
		"an endless quantity": {text: inFile, values: []string{"1e99999999"}, replicas: 3, wrong: "is not a quantity"},
		"too large":           {text: inFile, values: []string{"1e18"}, replicas: 3, wrong: "is above the largest value of the metrics API"},
		"nothing computed": {
			text: strings.Replace(inFile, "External, external: {metric: {name: queue}, target: {type: AverageValue, averageValue: \"10\"}}",
				"Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}", 1),
			values: []string{"70"}, replicas: 3, wrong: "has none (not computed: cpu of type Resource)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := explain.FromFile(t.Context(), &explain.File{
				Path: "hpa.yaml", Data: []byte(c.text), Values: c.values, Replicas: c.replicas, Ready: c.ready,
				Now: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC),
			})
			if c.wrong != "" {
				if !errors.As(err, new(explain.AssumptionError)) || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("%v, want %q", err, c.wrong)
				}
				return
			}
			if err != nil || desired(e) != c.desired {
				t.Errorf("%v, %d replicas, want %d", err, desired(e), c.desired)
			}
		})
	}
	if _, err := explain.FromFile(
		t.Context(),
		&explain.File{Path: "hpa.yaml", Data: []byte("kind: Service")},
	); err == nil {
		t.Error("a file without an autoscaler is explained")
	}
}

func desired(e *offline.Explanation) int32 {
	if e == nil || e.Desired == nil {
		return -1
	}
	return *e.Desired
}
