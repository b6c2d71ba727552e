package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/doctor"
)

// ailment is a way in which a cluster is broken, and what must be found.
type ailment struct {
	name string
	// harm and heal are lines of kubectl's arguments; a first word of "<" reads the text behind it.
	harm, heal [][]string
	// input is what an argument list with -f - reads.
	input string
	check string
	level doctor.Level
	// words of the message or the remedy.
	words []string
}

// found is the finding that an ailment asks for; nil where there is none.
func (a *ailment) found(all []doctor.Finding) *doctor.Finding {
	for i := range all {
		f := &all[i]
		text, all := f.Object+" "+f.Message+" "+f.Remedy, true
		for _, word := range a.words {
			all = all && strings.Contains(text, word)
		}
		if f.Check == a.check && f.Level == a.level && all {
			return f
		}
	}
	return nil
}

func described(all []doctor.Finding) string {
	var text strings.Builder
	for _, f := range all {
		if f.Level != doctor.OK && f.Level != doctor.Skipped {
			fmt.Fprintf(&text, "\n  %s %s %s: %s → %s", f.Level, f.Check, f.Object, f.Message, f.Remedy)
		}
	}
	return text.String()
}

// test breaks the cluster, waits until the doctor finds it with what to do, heals the cluster, and waits until it is silent.
func (a *ailment) test(t *testing.T, s *scene) {
	t.Helper()
	for _, args := range a.harm {
		s.MustKubectl(t, a.input, args...)
	}
	eventually(t, func() string {
		all := examine(t, s.Config)
		f := a.found(all)
		switch {
		case f == nil:
			return fmt.Sprintf("no %s of %s with %q among:%s", a.level, a.check, a.words, described(all))
		case f.Remedy == "":
			return "it does not say what to do: " + f.Message
		}
		t.Logf("%s %s, %s: %s → %s", f.Level, f.Check, f.Object, f.Message, f.Remedy)
		return ""
	})
	for _, args := range a.heal {
		s.MustKubectl(t, a.input, args...)
	}
	if a.heal != nil {
		healthy(t, s)
	}
}

// healthy waits until the doctor finds nothing.
func healthy(t *testing.T, s *scene) {
	t.Helper()
	eventually(t, func() string { return described(examine(t, s.Config)) })
}

func absent() []ailment {
	return []ailment{
		{
			name: "nothing is there", check: "Installed", level: doctor.Error,
			words: []string{"not installed", "--namespace"},
		},
		{
			name:  "an uninstalled KEDA left its APIService",
			check: "APIGroups",
			level: doctor.Error,
			harm:  [][]string{{apply, "-f", "-"}},
			input: orphan,
			words: []string{
				"ServiceNotFound", "no namespace", "kubectl delete apiservice v1beta1.external.metrics.k8s.io",
			},
		},
	}
}

const orphan = `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.external.metrics.k8s.io}
spec:
  group: external.metrics.k8s.io
  version: v1beta1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {name: keda-operator-metrics-apiserver, namespace: keda}
`

func idle() []ailment {
	return []ailment{
		{name: "no replica is ready", check: "Deployment", level: doctor.Error, words: []string{"0 of 2", "no pod"}},
		{
			name:  "no replica leads",
			check: "Leader",
			level: doctor.Error,
			words: []string{"no replica has ever been the leader"},
		},
		{
			name:  "the Secret is empty",
			check: "Certificates",
			level: doctor.Error,
			words: []string{"forewarm-ca", "is empty"},
		},
		{
			name: "a group that no server serves", check: "APIGroups", level: doctor.Warning,
			words: []string{"custom.metrics.k8s.io", "no server serves", "leader takes over the group"},
		},
		{
			name: "no group leads to Forewarm", check: "APIGroups", level: doctor.Error,
			words: []string{"no HPA can read a Forecast", "KEDA"},
		},
	}
}

// manifest is an object of deploy/default.
func manifest(kind, name string) string {
	all, err := os.ReadFile(filepath.Join("..", "..", "deploy", "default", "manifest.yaml"))
	if err != nil {
		panic(err)
	}
	for text := range strings.SplitSeq(string(all), "\n---\n") {
		if strings.Contains(text, "\nkind: "+kind+"\n") && strings.Contains(text, "\n  name: "+name+"\n") {
			return text
		}
	}
	panic("deploy/default has no " + kind + " " + name)
}

func broken() []ailment {
	restore := [][]string{{"apply", "--server-side", "--force-conflicts", "-f", "-"}}
	role := manifest("ClusterRole", "forewarm:server")
	return []ailment{
		{
			name: "one replica is not ready", check: "Deployment", level: doctor.Warning, words: []string{"1 of 2"},
			harm: [][]string{readyStatus(1)}, heal: [][]string{readyStatus(2)},
		},
		{
			name: "no source", check: "Source", level: doctor.Error, words: []string{"none of --prometheus-url"},
			harm: [][]string{{
				"patch", deployment, "-n", system, "--type=json", "-p",
				`[{"op": "replace", "path": "/spec/template/spec/containers/0/args", "value": ["serve"]}]`,
			}},
			heal: restore, input: manifest("Deployment", "forewarm"),
		},
		{
			name:  "its ClusterRole is gone",
			check: "Rights",
			level: doctor.Error,
			words: []string{
				"lacks permissions for Forecasts (get,list,watch forecasts.forewarm.dev",
				"serves no Forecast",
			},
			harm:  [][]string{{"delete", "clusterrole", "forewarm:server"}},
			heal:  restore,
			input: role,
		},
		{
			name:  "a right is missing",
			check: "Rights",
			level: doctor.Warning,
			words: []string{"list,watch pods", "fallback"},
			harm: [][]string{
				{
					"patch",
					"clusterrole",
					"forewarm:server",
					"--type=json",
					"-p",
					`[{"op": "test", "path": "/rules/9/resources/0", "value": "pods"}, {"op": "remove", "path": "/rules/9"}]`,
				},
			},
			heal:  restore,
			input: role,
		},
		{
			name: "a second Forewarm", check: "OneForewarm", level: doctor.Error, words: []string{"other", "second"},
			harm: [][]string{
				{"create", "namespace", "other"},
				{"create", "deployment", "forewarm", "-n", "other", "--image=i"},
				{"label", deployment, "-n", "other", "--overwrite", "app.kubernetes.io/part-of=forewarm"},
			},
			heal: [][]string{{"delete", deployment, "-n", "other"}},
		},
		{
			name: "a CRD older than the binary", check: "CRDs", level: doctor.Error,
			words: []string{"spec.seasons", "status.objective.burnRate", "drops"},
			harm: [][]string{{
				"patch", "crd", "forecasts.forewarm.dev", "--type=json", "-p", `[
	{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/seasons"},
	{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/objective/properties/burnRate"}]`,
			}},
			heal: [][]string{
				{"apply", "--server-side", "--force-conflicts", "-f", "deploy/charts/forewarm/files/crds"},
				{"apply", "-f", "-"},
			},
			input: healthyForecast,
		},
		{
			name: "an APIService that skips verification", check: "Certificates", level: doctor.Warning,
			words: []string{"insecureSkipTLSVerify"},
			harm: [][]string{{
				"patch", "apiservice", "v1alpha1.inspect.forewarm.dev", "--type=merge", "-p",
				`{"spec": {"insecureSkipTLSVerify": true, "caBundle": null}}`,
			}},
			heal: [][]string{{
				"patch", "apiservice", "v1alpha1.inspect.forewarm.dev", "--type=merge", "-p",
				`{"spec": {"insecureSkipTLSVerify": false}}`,
			}},
		},
		{
			name: "an HPA that explain warns of", check: "Autoscalers", level: doctor.Warning,
			words: []string{"ValueTargetCompounds", "AverageValue"},
			harm:  [][]string{{"apply", "-f", "-"}}, heal: [][]string{{"delete", "-f", "-"}},
			input: strings.NewReplacer("name: llama, namespace", "name: compounds, namespace", "AverageValue",
				"Value", "averageValue", "value", "kind: Deployment, name: llama",
				"kind: Deployment, name: other").Replace(healthyHPA),
		},
		{
			name: "an HPA without its Forecast", check: "Autoscalers", level: doctor.Error,
			words: []string{"team/dangles", "reads the Forecast gone"},
			harm:  [][]string{{"apply", "-f", "-"}}, heal: [][]string{{"delete", "-f", "-"}},
			input: strings.NewReplacer("name: llama, namespace", "name: dangles, namespace",
				"kind: Deployment, name: llama", "kind: Deployment, name: other", "name: load",
				"name: gone").Replace(healthyHPA),
		},
		{
			name: "an invalid Forecast", check: "Forecasts", level: doctor.Error,
			words: []string{"team/wrong", "vllm/inflight"}, harm: [][]string{{"apply", "-f", "-"}},
			heal: [][]string{{"delete", "-f", "-"}}, input: forecast("wrong", "preset: vllm/in-flight", "0.9"),
		},
		{
			name: "no CapacityBuffers", check: "CapacityBuffers", level: doctor.Error,
			words: []string{"autoscaling.x-k8s.io/v1beta1", "placeholderPods"},
			harm:  [][]string{{"apply", "-f", "-"}}, heal: [][]string{{"delete", "-f", "-"}},
			input: poolWith("buffers", "capacityBuffer: {}", "Recommend"),
		},
		{
			name: "a quota that refuses real pods", check: "Quotas", level: doctor.Error,
			words: []string{"ResourceQuota gpus", "PriorityClass"},
			harm: [][]string{
				{"apply", "-f", "-"},
				{"create", "quota", "gpus", "-n", "team", "--hard=requests.nvidia.com/gpu=4"},
				{
					"patch", "quota", "gpus", "-n", "team", "--subresource=status", "--type=merge", "-p",
					`{"status": {"hard": {"requests.nvidia.com/gpu": "4"}, "used": {"requests.nvidia.com/gpu": "4"}}}`,
				},
			},
			heal:  [][]string{{"delete", "-f", "-"}, {"delete", "quota", "gpus", "-n", "team"}},
			input: poolWith("held", "placeholderPods: {}", "Recommend"),
		},
		{
			name: "a pool that may not be held", check: "Rights", level: doctor.Error,
			words: []string{"patch warmpools", "mode Enforce", "docs/warm-pools.md"},
			harm:  [][]string{{"apply", "-f", "-"}}, heal: [][]string{{"delete", "-f", "-"}},
			input: poolWith("enforced", "placeholderPods: {}", "Enforce"),
		},
		{
			name: "groups that others took", check: "APIGroups", level: doctor.Error,
			words: []string{"no HPA can read a Forecast", "KEDA"},
			harm: [][]string{
				lead("v1beta1.external.metrics.k8s.io", "keda", "keda-operator-metrics-apiserver"),
				lead("v1beta2.custom.metrics.k8s.io", "monitoring", "prometheus-adapter"),
			},
			heal: [][]string{
				lead("v1beta1.external.metrics.k8s.io", system, "forewarm"),
				lead("v1beta2.custom.metrics.k8s.io", system, "forewarm"),
			},
		},
	}
}

// lead changes where an APIService leads.
func lead(apiService, namespace, name string) []string {
	return []string{
		"patch", "apiservice", apiService, "--type=merge", "-p",
		fmt.Sprintf(`{"spec": {"service": {"namespace": %q, "name": %q}}}`, namespace, name),
	}
}

func ended() []ailment {
	const secret = "secret/forewarm-ca"
	data := func(text string) []string {
		return []string{"patch", secret, "-n", system, "--type=merge", "-p", text}
	}
	bundle := func(text []byte) []string {
		return []string{
			"patch", "apiservice", "v1alpha1.inspect.forewarm.dev", "--type=merge", "-p",
			fmt.Sprintf(`{"spec": {"caBundle": %q}}`, base64.StdEncoding.EncodeToString(text)),
		}
	}
	other, _ := certificate(time.Now().Add(time.Hour))
	old, _ := certificate(time.Now().Add(-time.Hour))
	return []ailment{
		{name: "no replica leads", check: "Leader", level: doctor.Error, words: []string{"no replica is the leader"}},
		{
			name: "a wrong CA", check: "Certificates", level: doctor.Error,
			words: []string{"lacks one of the certificates", "leader"}, harm: [][]string{bundle(other)},
		},
		{
			name: "there is no caBundle", check: "Certificates", level: doctor.Error,
			words: []string{"no caBundle", "leader"}, harm: [][]string{bundle(nil)},
		},
		{name: "no API answers", check: "APIGroups", level: doctor.Error, words: []string{"is not available"}},
		{
			name:  "a damaged caBundle",
			check: "Certificates",
			level: doctor.Error,
			words: []string{"caBundle is invalid"},
			harm:  [][]string{bundle([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))},
		},
		{
			name: "a Secret edited by hand", check: "Certificates", level: doctor.Error,
			words: []string{"changed by someone else", "remove its data"},
			harm:  [][]string{data(`{"stringData": {"ca.crt": "hello"}}`)},
		},
		{
			name:  "a Secret without its key",
			check: "Certificates",
			level: doctor.Error,
			words: []string{"ca.key is missing"},
			harm:  [][]string{data(fmt.Sprintf(`{"stringData": {"ca.crt": %q}, "data": {"ca.key": null}}`, other))},
		},
		{
			name: "expired certificates", check: "Certificates", level: doctor.Error, words: []string{"have expired"},
			harm: [][]string{data(fmt.Sprintf(`{"stringData": {"ca.crt": %q, "ca.key": "x"}}`, old)), bundle(old)},
		},
		{
			name: "a deleted Secret", check: "Certificates", level: doctor.Error,
			words: []string{"does not exist", "manifests"}, harm: [][]string{{"delete", secret, "-n", system}},
		},
		{
			name: "a deleted CRD", check: "CRDs", level: doctor.Error,
			words: []string{"CRD of WarmPool is not installed"},
			harm:  [][]string{{"delete", "crd", "warmpools.forewarm.dev"}},
		},
		{
			name: "a deleted Deployment", check: "Deployment", level: doctor.Error, words: []string{"does not exist"},
			harm: [][]string{{"delete", deployment, "-n", system}},
		},
	}
}
