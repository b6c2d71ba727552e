package repotest_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/hack/repotest"
	inspect "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/serve/keda"
	"github.com/forewarm/forewarm/pkg/source/cloudauth"
	"github.com/forewarm/forewarm/pkg/source/tenants"
)

// The YAML of the pages is what Forewarm and the cluster accept: whole objects, and fragments of a Forecast, an HPA or a trigger.
func TestYAMLIsValid(t *testing.T) {
	objects := 0
	for _, page := range userPages(t) {
		blocks, _ := repotest.Split(read(t, page))
		for _, b := range blocks {
			if b.Language != "yaml" {
				continue
			}
			for text := range strings.SplitSeq(b.Text, "\n---\n") {
				objects++
				if err := checkYAML(text); err != nil {
					t.Errorf("%s:%d: %v\n%s", page, b.Line, err, text)
				}
			}
		}
	}
	if objects < 6 {
		t.Errorf("%d objects found, want those of the README, the quickstart and more", objects)
	}
}

func checkYAML(text string) error {
	var object map[string]any
	if err := yaml.UnmarshalStrict([]byte(text), &object); err != nil {
		return err
	}
	switch kind := object["kind"]; {
	case object["sources"] != nil:
		return checkSources(object["sources"])
	case object["prometheus"] != nil:
		return checkAuth(object["prometheus"])
	case kind == "Forecast":
		for _, d := range manifest.Parse("", []byte(text)) {
			if len(d.Problems) > 0 {
				return fmt.Errorf("%v", d.Problems)
			}
		}
		return nil
	case kind == "DemandEvent":
		_, err := manifest.ReadEvents("", []byte(text))
		return err
	case kind == "WarmPool":
		_, err := manifest.ReadPools("", []byte(text))
		return err
	case kind == "GPUFleet":
		_, err := manifest.ReadFleets("", []byte(text))
		return err
	case kind == "ScaledJob":
		return checkJobs(text)
	case kind == "HorizontalPodAutoscaler":
		var scaler autoscalingv2.HorizontalPodAutoscaler
		if err := yaml.UnmarshalStrict([]byte(text), &scaler); err != nil {
			return err
		}
		return checkReferences(autoscaler.FromHPA(&scaler))
	case kind == "Deployment":
		return yaml.UnmarshalStrict([]byte(text), &appsv1.Deployment{})
	case object["metrics"] != nil:
		var scaler autoscalingv2.HorizontalPodAutoscaler
		if err := yaml.UnmarshalStrict([]byte(text), &scaler.Spec); err != nil {
			return err
		}
		return checkReferences(autoscaler.FromHPA(&scaler))
	case kind != nil:
		return fmt.Errorf("no test knows objects of kind %v", kind)
	case object["triggers"] != nil:
		return checkTriggers(object["triggers"], strings.Contains(text, "forewarm_served_value{"))
	case object["behavior"] != nil:
		return yaml.UnmarshalStrict([]byte(text), &autoscalingv2.HorizontalPodAutoscalerSpec{})
	case object["batch"] != nil:
		return yaml.UnmarshalStrict([]byte(text), &v1alpha1.GPUFleetSpec{})
	default:
		return yaml.UnmarshalStrict([]byte(text), &v1alpha1.ForecastSpec{})
	}
}

// checkTriggers checks a ScaledObject's triggers. One of them names a Forecast, or reads its value from Prometheus.
func checkTriggers(triggers any, byPrometheus bool) error {
	object := &unstructured.Unstructured{Object: map[string]any{
		"kind": "ScaledObject", "metadata": map[string]any{"name": "llama", "namespace": "inference"},
		"spec": map[string]any{"scaleTargetRef": map[string]any{"name": "llama"}, "triggers": triggers},
	}}
	read, err := autoscaler.FromScaledObject(object)
	if err != nil {
		return err
	}
	if !byPrometheus {
		return checkReferences(read)
	}
	for i := range read.Metrics {
		if m := &read.Metrics[i]; m.Refused != "" {
			return fmt.Errorf("%s: %s", m, m.Refused)
		}
	}
	return nil
}

// checkAuth checks the chart's credentials for a managed Prometheus as the server reads them.
func checkAuth(values any) error {
	var auth cloudauth.Config
	read, ok := values.(map[string]any)
	text, err := yaml.Marshal(read["auth"])
	if !ok {
		return errors.New("prometheus has no fields")
	}
	return errors.Join(err, auth.Set(string(text)), auth.Validate())
}

// checkSources checks the chart's sources as the server reads them.
func checkSources(value any) error {
	values, ok := value.(map[string]any)
	text, err := yaml.Marshal(map[string]any{"sources": values["list"]})
	if err != nil || !ok {
		return fmt.Errorf("sources: %v (%w)", value, err)
	}
	file, err := os.CreateTemp("", "forewarm-sources-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // A temporary file.
	if _, err = file.Write(text); err != nil {
		return err
	}
	sources, err := tenants.Open(tenants.Config{File: file.Name(), Now: time.Now}, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	sources.Close()
	return file.Close()
}

// checkJobs checks a ScaledJob's only trigger, and its jobs.
func checkJobs(text string) error {
	var jobs struct {
		Spec struct {
			Triggers     []struct{ Metadata map[string]string }
			JobTargetRef batchv1.JobSpec
		}
	}
	if err := yaml.Unmarshal([]byte(text), &jobs); err != nil {
		return err
	}
	if n := len(jobs.Spec.Triggers); n != 1 || len(jobs.Spec.JobTargetRef.Template.Spec.Containers) == 0 {
		return fmt.Errorf("%d triggers, want one, and a container", n)
	}
	return keda.CheckTrigger("inference", "embeddings", jobs.Spec.Triggers[0].Metadata)
}

// checkReferences: an autoscaler reads one Forecast, or the spare GPUs of a fleet.
func checkReferences(a *hpa.Autoscaler) error {
	if len(a.Metrics) == 1 && a.Metrics[0].Fleet != "" {
		return nil
	}
	references := autoscaler.References(a)
	if len(references) != 1 || references[0].Refused != "" {
		return fmt.Errorf("it does not refer to one Forecast: %+v", references)
	}
	return nil
}

// specs are the types that a line of YAML within the text may be a part of.
func specs() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[v1alpha1.ForecastSpec](), reflect.TypeFor[v1alpha1.WarmPoolSpec](),
		reflect.TypeFor[v1alpha1.GPUFleetSpec](), reflect.TypeFor[v1alpha1.FleetGPUs](),
		reflect.TypeFor[v1alpha1.FleetBatch](),
		reflect.TypeFor[autoscalingv2.HorizontalPodAutoscalerSpec](), reflect.TypeFor[autoscalingv2.MetricTarget](),
		reflect.TypeFor[autoscalingv2.ObjectMetricSource](),
	}
}

// yamlField is code of a page that looks like a field with its value: serve: Shadow.
var yamlField = regexp.MustCompile(`^[a-z][A-Za-z]*: \S`)

func TestFieldsWithValuesWithinTheTextAreValid(t *testing.T) {
	found := 0
	for _, page := range userPages(t) {
		_, prose := repotest.Split(read(t, page))
		for _, code := range repotest.Code(prose) {
			if !yamlField.MatchString(code) || strings.Contains(code, "…") || notOurs(code) {
				continue
			}
			found++
			if !fitsAny(code) {
				t.Errorf("%s: `%s` is no part of a Forecast, a WarmPool, a GPUFleet or an HPA", page, code)
			}
		}
	}
	if found < 10 {
		t.Errorf("%d fields found, want those of the pages", found)
	}
}

// notOurs reports whether a line of YAML belongs to an object of another project.
func notOurs(code string) bool {
	field, _, _ := strings.Cut(code, ":")
	switch field {
	case "preemption", "scopeSelector", "insecureSkipTLSVerify", "preemptionPolicy", "query", "scalingAdapter":
		return true
	}
	return false
}

func fitsAny(code string) bool {
	return slices.ContainsFunc(specs(), func(spec reflect.Type) bool {
		return yaml.UnmarshalStrict([]byte(code), reflect.New(spec).Interface()) == nil
	})
}

// fieldPath is code of a page that names a field of an object: status.leadTimeSource, leadTime.fallback.
var fieldPath = regexp.MustCompile(
	`^(?:\{?\.)?((?:spec|status|objective|leadTime|scaling|signal|budget|actuator)(?:\.[a-zA-Z]+)+)\}?$`)

func TestFieldsThatThePagesNameExist(t *testing.T) {
	roots := []reflect.Type{
		reflect.TypeFor[v1alpha1.Forecast](), reflect.TypeFor[v1alpha1.WarmPool](),
		reflect.TypeFor[v1alpha1.GPUFleet](), reflect.TypeFor[inspect.Outlook](),
		reflect.TypeFor[v1alpha1.ForecastSpec](), reflect.TypeFor[v1alpha1.WarmPoolSpec](),
		reflect.TypeFor[v1alpha1.GPUFleetSpec](), reflect.TypeFor[autoscalingv2.HorizontalPodAutoscaler](),
	}
	found := 0
	for _, page := range userPages(t) {
		blocks, prose := repotest.Split(read(t, page))
		words := repotest.Code(prose)
		for _, b := range blocks {
			words = append(words, regexp.MustCompile(`\{\.[a-zA-Z.]+\}`).FindAllString(b.Text, -1)...)
		}
		for _, word := range words {
			name := fieldPath.FindStringSubmatch(word)
			if name == nil {
				continue
			}
			found++
			fields := strings.Split(name[1], ".")
			if !slices.ContainsFunc(roots, func(root reflect.Type) bool { return hasField(root, fields) }) {
				t.Errorf("%s: no object has the field %s", page, name[1])
			}
		}
	}
	if found < 10 {
		t.Errorf("%d fields found, want those that the pages name", found)
	}
}

// tables are those whose first column names fields: by the first word of their heading, the field that these belong to.
func tables() map[string]string {
	return map[string]string{"field": "spec", "`status`": "status", "actuator": "spec.actuator"}
}

func TestFieldsInTablesExist(t *testing.T) {
	roots := []reflect.Type{
		reflect.TypeFor[v1alpha1.Forecast](), reflect.TypeFor[v1alpha1.WarmPool](),
		reflect.TypeFor[v1alpha1.GPUFleet](),
	}
	found := 0
	for _, page := range userPages(t) {
		_, prose := repotest.Split(read(t, page))
		parent := ""
		for _, line := range prose {
			cells := strings.Split(line, "|")
			if len(cells) < 3 {
				parent = ""
				continue
			}
			if heading, ok := tables()[strings.TrimSpace(cells[1])]; ok {
				parent = heading
				continue
			}
			if parent == "" {
				continue
			}
			for _, name := range repotest.Code(cells[1:2]) {
				found++
				path := strings.Split(parent+"."+name, ".")
				if !slices.ContainsFunc(roots, func(root reflect.Type) bool { return hasField(root, path) }) {
					t.Errorf("%s: no object has the field %s.%s", page, parent, name)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("%d fields found, want those of the tables", found)
	}
}

// hasField reports whether a type has a field by its path in JSON.
func hasField(of reflect.Type, path []string) bool {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if len(path) == 0 {
		return true
	}
	if of.Kind() != reflect.Struct {
		return false
	}
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == path[0] && hasField(f.Type, path[1:]) {
			return true
		}
	}
	return false
}
