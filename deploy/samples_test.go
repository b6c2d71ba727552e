package deploy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// bySignal are the samples that each show a signal, or what is known of it: a Forecast and what scales on it.
func bySignal() []string {
	return []string{
		"vllm-h100.yaml",
		"mig.yaml",
		"time-slicing.yaml",
		"mps.yaml",
		"hami.yaml",
		"vcuda.yaml",
		"dra.yaml",
		"gang.yaml",
		"kserve.yaml",
		"knative.yaml",
		"production-stack.yaml",
		"llm-d.yaml",
		"kserve-llm.yaml",
		"dynamo.yaml",
		"aibrix.yaml",
		"ray-serve.yaml",
		"triton.yaml",
		"web.yaml",
		"events.yaml",
		"deferrable.yaml",
		"variants.yaml",
		"hpa-zero.yaml",
	}
}

// pools are the samples of warm pools: one for each way to hold capacity, and for what a chunk may be.
func pools() []string {
	return []string{
		"warm-pool-placeholder-pods.yaml",
		"warm-pool-capacity-buffer.yaml",
		"warm-pool-scale.yaml",
		"warm-pool-mig.yaml",
		"warm-pool-gang.yaml",
		"time-slicing.yaml",
		"mps.yaml",
		"hami.yaml",
		"vcuda.yaml",
		"dra.yaml",
		"warm-pool-gang-lws.yaml",
		"warm-pool-gang-volcano.yaml",
		"warm-pool-gang-koordinator.yaml",
		"warm-pool-gang-katalyst.yaml",
	}
}

// fleetSample is a GPUFleet and the ScaledJob that uses its spare GPUs.
const fleetSample = "gpu-fleet.yaml"

// testSamples applies them as they stand, twice: nothing is unknown, nothing defaulted otherwise the second time.
func testSamples(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	for name, file := range platformDefinitions(t) {
		c.MustKubectl(t, "", "apply", "--server-side", "-f", file)
		// The name first: waiting for a condition fails where there is none yet.
		plural, _, _ := strings.Cut(name, ".")
		for _, established := range []string{"jsonpath={.status.acceptedNames.plural}=" + plural, "condition=Established"} {
			c.MustKubectl(t, "", "wait", "--for="+established, "crd/"+name, "--timeout=30s")
		}
	}
	for range 2 {
		for _, name := range append(slices.Concat(bySignal(), pools()), fleetSample) {
			file := filepath.Join("deploy", "samples", name)
			c.MustKubectl(t, "", "apply", "--server-side", "--validate=strict", "-f", file)
		}
	}
}

// platformDefinitions are the files of the platforms' own CustomResourceDefinitions by name, in the modules that they are published
// as. What their webhooks say beyond that, of annotations above all, is not tried: the modules that those are compiled of are
// not to be had.
func platformDefinitions(t *testing.T) map[string]string {
	t.Helper()
	of := func(component, module string, path ...string) string {
		cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
		cmd.Dir = filepath.Join("..", "hack", "components", component)
		out, err := cmd.Output()
		var downloaded struct{ Dir, Error string }
		if err = errors.Join(err, json.Unmarshal(out, &downloaded)); err != nil || downloaded.Error != "" {
			t.Fatalf("%s: %v %s", module, err, downloaded.Error)
		}
		return filepath.Join(append([]string{downloaded.Dir, "config"}, path...)...)
	}
	in := func(module string, path ...string) string { return of("platforms", module, path...) }
	return map[string]string{
		"services.serving.knative.dev": in("knative.dev/serving", "core", "300-resources", "service.yaml"),
		"inferenceservices.serving.kserve.io": in("github.com/kserve/kserve", "crd", "full",
			"serving.kserve.io_inferenceservices.yaml"),
		"llminferenceservices.serving.kserve.io": in("github.com/kserve/kserve", "crd", "full", "llmisvc",
			"serving.kserve.io_llminferenceservices.yaml"),
		"rayservices.ray.io": in("github.com/ray-project/kuberay/ray-operator", "crd", "bases",
			"ray.io_rayservices.yaml"),
		"inferencepools.inference.networking.k8s.io": in("sigs.k8s.io/gateway-api-inference-extension", "crd", "bases",
			"inference.networking.k8s.io_inferencepools.yaml"),
		"leaderworkersets.leaderworkerset.x-k8s.io": in("sigs.k8s.io/lws", "crd", "bases",
			"leaderworkerset.x-k8s.io_leaderworkersets.yaml"),
		"podgroups.scheduling.x-k8s.io": in("sigs.k8s.io/scheduler-plugins", "crd", "bases",
			"scheduling.x-k8s.io_podgroups.yaml"),
		"podgroups.scheduling.volcano.sh": in("volcano.sh/volcano", "crd", "volcano", "bases",
			"scheduling.volcano.sh_podgroups.yaml"),
		"podgroups.scheduling.sigs.k8s.io": in("github.com/koordinator-sh/koordinator", "crd", "bases",
			"scheduling.sigs.k8s.io_podgroups.yaml"),
		"scaledjobs.keda.sh": of("keda", "github.com/kedacore/keda/v2", "crd", "bases", "keda.sh_scaledjobs.yaml"),
	}
}

// TestTheSamplesFit: the signal can be asked for the workload, and the autoscaler is one that the Forecast is calibrated
// for, of the same workload.
func TestTheSamplesFit(t *testing.T) {
	for _, name := range bySignal() {
		t.Run(name, func(t *testing.T) {
			forecast, scaler := read(t, name)
			spec := forecast.Spec
			if preset := spec.Signal.Preset; preset != "" {
				p, err := signal.Lookup(preset)
				if err != nil {
					t.Fatal(err)
				}
				target := signal.Target{Kind: spec.TargetRef.Kind, Name: spec.TargetRef.Name}
				if _, err := p.Render(forecast.Namespace, target, signal.Trust{}); err != nil {
					t.Error(err)
				}
			} else if _, err := promexpr.Confine(spec.Signal.Query, "namespace", forecast.Namespace, ""); err != nil {
				t.Error(err)
			}
			if scaler == nil {
				if spec.Scaling == nil {
					t.Error("neither an autoscaler nor the Forecast says what a replica sustains")
				}
				return
			}
			references := autoscaler.References(autoscaler.FromHPA(scaler))
			if len(references) != 1 || references[0].Refused != "" || references[0].Forecast.Name != forecast.Name ||
				references[0].Forecast.Namespace != forecast.Namespace {
				t.Fatalf("%+v is not on %s/%s", references, forecast.Namespace, forecast.Name)
			}
			if want := (leadtime.Workload{
				Namespace: forecast.Namespace, APIVersion: spec.TargetRef.APIVersion, Kind: spec.TargetRef.Kind,
				Name: spec.TargetRef.Name,
			}); references[0].Workload != want {
				t.Errorf("it scales %v, want %v", references[0].Workload, want)
			}
		})
	}
}

// TestThePoolsFit: each is sound, a chunk is the part of a GPU that its comment says, its members are Forecasts of the
// other samples, and of no other pool.
func TestThePoolsFit(t *testing.T) {
	known := map[string]bool{}
	for _, name := range append(bySignal(), "forecast.yaml") {
		forecast, _ := read(t, name)
		known[forecast.Name] = true
	}
	parts := map[string]float64{
		"warm-pool-mig.yaml": 0.143, "time-slicing.yaml": 0.25, "mps.yaml": 0.25,
		"hami.yaml": 0.245, "vcuda.yaml": 0.3, "dra.yaml": 0.143,
	}
	for _, name := range pools() {
		text, err := os.ReadFile(filepath.Join("samples", name))
		if err != nil {
			t.Fatal(err)
		}
		all, err := manifest.ReadPools(name, text)
		if err != nil {
			t.Error(err)
			continue
		}
		if want, is := parts[name]; is && all[0].Pool.GPUs != want {
			t.Errorf("%s: a chunk is %g GPUs, want %g", name, all[0].Pool.GPUs, want)
		}
		for _, m := range all[0].Members {
			if !known[m.Forecast] {
				t.Errorf("%s: no sample is the Forecast %s, or another pool has it", name, m.Forecast)
			}
			if !strings.HasPrefix(name, "warm-pool-gang") { // These are instead of each other.
				delete(known, m.Forecast)
			}
		}
	}
}

// TestNoSampleIsForgotten holds the folder against what is applied here and elsewhere.
func TestNoSampleIsForgotten(t *testing.T) {
	tried := map[string]bool{
		"forecast.yaml":     true,
		"hpa.yaml":          true,
		"hpa-object.yaml":   true,
		"scaledobject.yaml": true,
		fleetSample:         true,
	}
	for _, name := range slices.Concat(bySignal(), pools()) {
		tried[name] = true
	}
	entries, err := os.ReadDir("samples")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !tried[e.Name()] {
			t.Errorf("no test applies samples/%s", e.Name())
		}
	}
}

// read is the Forecast of a sample and its autoscaler, nil where it has none.
func read(t *testing.T, name string) (*v1alpha1.Forecast, *autoscalingv2.HorizontalPodAutoscaler) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("samples", name))
	if err != nil {
		t.Fatal(err)
	}
	var forecast v1alpha1.Forecast
	var scaler *autoscalingv2.HorizontalPodAutoscaler
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), len(text))
	for {
		var document json.RawMessage
		if err := documents.Decode(&document); errors.Is(err, io.EOF) {
			return &forecast, scaler
		} else if err != nil {
			t.Fatal(err)
		}
		var object any
		switch {
		case bytes.Contains(document, []byte(`"kind":"HorizontalPodAutoscaler"`)):
			scaler = &autoscalingv2.HorizontalPodAutoscaler{}
			object = scaler
		case bytes.Contains(document, []byte(`"kind":"Forecast"`)):
			object = &forecast
		default:
			continue // The workload itself.
		}
		if err := json.Unmarshal(document, object); err != nil {
			t.Fatal(err)
		}
	}
}
