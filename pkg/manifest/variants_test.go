package manifest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// selecting is an HPA of 1 to 20 replicas of a Deployment that selects a variant.
func selecting(name, variant string, target int64) manifest.Reference {
	r := referring("HorizontalPodAutoscaler/"+name, target)
	r.Workload.Name, r.Variant = name, variant
	return r
}

const withVariants = header + `spec:
  targetRef: {kind: Deployment, name: llama}
  signal: {preset: vllm/inflight}
  leadTime: {mode: Fixed, duration: 2m}
  price: "3"
  variants:
  - {name: spot, targetRef: {kind: Deployment, name: llama-spot}, price: "1.1", leadTime: 9m}
  - {name: there, price: "2", scaling: {target: 32, minReplicas: 0, maxReplicas: 8}}
`

// Variants are the workload's own and the others, each with its autoscaler; what an objective is calibrated for stands for all.
func TestVariants(t *testing.T) {
	sleeping := selecting("llama-spot", "spot", 128)
	sleeping.ScalesToZero = true
	state := manifest.ClusterState{Autoscalers: refs(selecting("llama", "llama", 64), sleeping)}
	job := resolve(t, object(t, withVariants), state)
	if len(job.Variants) != 3 || len(job.Autoscalers) != 1 || len(job.ReadWhole) > 0 {
		t.Fatalf("%+v", job)
	}
	own, spot, there := job.Variants[0], job.Variants[1], job.Variants[2]
	if own.Name != "llama" || own.Price != 3 || own.Lead != 2*time.Minute || own.Capacity() != 64 || own.ScalesToZero {
		t.Errorf("%+v", own)
	}
	if spot.Name != "spot" || spot.Price != 1.1 || spot.Lead != 9*time.Minute || spot.Capacity() != 128 ||
		!spot.ScalesToZero {
		t.Errorf("%+v", spot)
	}
	if there.Lead != 2*time.Minute || there.Capacity() != 32 || there.HPA.Max != 8 || !there.ScalesToZero {
		t.Errorf("%+v", there)
	}
	workload := leadtime.Workload{Namespace: "inference", APIVersion: "apps/v1", Kind: "Deployment", Name: "llama-spot"}
	if job.VariantWorkloads[1] != workload || job.VariantWorkloads[2] != (leadtime.Workload{}) {
		t.Errorf("workloads %v", job.VariantWorkloads)
	}
	whole := job.Autoscalers[0]
	if whole.Target() != 64 || whole.HPA.Max != 20+40+4 || job.Settings.Target != 64 {
		t.Errorf("the whole is %+v", whole)
	}
	const words = "HorizontalPodAutoscaler/llama: 64 a replica, 1 to 20 replicas; variant spot: HorizontalPodAutoscaler/llama-spot: 128 a " +
		"replica, 1 to 20 replicas; variant there: spec.variants[1].scaling: 32 a replica, 1 to 8 replicas"
	if job.AutoscalerSource != words {
		t.Error(job.AutoscalerSource)
	}
}

// An autoscaler that is not there, or reads something else, is said; the others have the demand.
func TestVariantsThatAreNotRead(t *testing.T) {
	for name, tt := range map[string]struct {
		references []manifest.Reference
		variants   int
		whole      string
		words      string
	}{
		"none selects it": {
			refs(selecting("llama", "llama", 64)), 2, "",
			"variant spot gets no share of the demand: no autoscaler selects it (with variant: spot in the " +
				"selector), and its field scaling is not set",
		},
		"the first reads the whole": {
			refs(referring("HorizontalPodAutoscaler/llama", 64), selecting("llama-spot", "spot", 64)), 3, "HorizontalPodAutoscaler/llama", "",
		},
		"it scales another workload": {
			refs(selecting("llama", "llama", 64), selecting("other", "spot", 64)), 2, "",
			"HorizontalPodAutoscaler/other is not used: it scales Deployment.apps/other, not Deployment.apps/llama-spot",
		},
		"a variant that there is not": {
			refs(selecting("llama", "llama", 64), selecting("llama-spot", "spott", 64)), 2, "",
			"its selector has variant=spott, but the Forecast has no such variant",
		},
		"the first is not known": {refs(selecting("llama-spot", "spot", 64)), 0, "", "no autoscaler and no spec.scaling"},
	} {
		job := resolve(t, object(t, withVariants), manifest.ClusterState{Autoscalers: tt.references})
		if len(job.Variants) != tt.variants || strings.Join(job.ReadWhole, " ") != tt.whole {
			t.Errorf("%s: %d variants, read whole by %v", name, len(job.Variants), job.ReadWhole)
		}
		if !strings.Contains(job.AutoscalerSource, tt.words) {
			t.Errorf("%s: %s", name, job.AutoscalerSource)
		}
	}
	plain := object(t, header+"spec:\n  targetRef: {kind: Deployment, name: llama}\n  signal: {query: x}\n")
	job := resolve(t, plain, manifest.ClusterState{Autoscalers: refs(selecting("llama", "llama", 64))})
	if len(job.Autoscalers) > 0 || !strings.Contains(job.AutoscalerSource, "which the Forecast does not have") {
		t.Errorf("without variants: %s", job.AutoscalerSource)
	}
}

func TestInvalidVariants(t *testing.T) {
	for change, want := range map[string]string{
		`"1.1"`:            `spec.variants[0].price`,
		"price: \"3\"\n":   "spec.variants[0].price: Required value: give a price for each variant and spec.price for targetRef, or none",
		"name: spot":       `spec.variants[1].name: Duplicate value: "there"`,
		"name: llama-spot": "is the same workload as in spec.targetRef: write the name of another workload",
		"kind: Deployment,": "a preset finds the pods of only one kind of workload: write Deployment, or use a query " +
			"that returns the demand of all variants",
		"leadTime: 9m": "spec.variants[0].leadTime",
		"target: 32":   `spec.variants[1].scaling.target: Invalid value: "0": write the demand that one replica sustains`,
	} {
		text := withVariants
		replacement := map[string]string{
			`"1.1"`: `"0"`, "price: \"3\"\n": "models: [arima]\n", "name: spot": "name: there", "name: llama-spot": "name: llama",
			"leadTime: 9m": "leadTime: 9y", "target: 32": "target: 0",
		}[change]
		if change == "kind: Deployment," {
			text = strings.Replace(
				text,
				"{kind: Deployment, name: llama-spot}",
				"{kind: StatefulSet, name: llama-spot}",
				1,
			)
		} else {
			text = strings.Replace(text, change, replacement, 1)
		}
		_, problems := manifest.NewResolver(catalogue{}).Resolve(object(t, text))
		if got := manifest.JoinProblems(problems); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", change, got, want)
		}
	}
}
