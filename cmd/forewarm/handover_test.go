package main

import (
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/doctor"
)

// adapted are the objects of a cluster that is not handed over yet: an HPA, of whose metrics a Forecast answers the first two,
// and prometheus-adapter behind the resource metrics.
const adapted = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: old, namespace: team}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llama}
  maxReplicas: 20
  metrics:
  - {type: External, external: {metric: {name: load}, target: {type: AverageValue, averageValue: "10"}}}
  - {type: External, external: {metric: {name: depth, selector: {matchLabels: {queue: a}}}, target: {type: AverageValue, averageValue: "10"}}}
  - {type: External, external: {metric: {name: depth, selector: {matchLabels: {queue: b}}}, target: {type: AverageValue, averageValue: "10"}}}
  - {type: Pods, pods: {metric: {name: busy}, target: {type: AverageValue, averageValue: "10"}}}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.metrics.k8s.io}
spec:
  {group: metrics.k8s.io, version: v1beta1, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true,
    service: {namespace: monitoring, name: prometheus-adapter}}
`

// handover: the check names what blocks, its commands hand the group over without a gap, and their opposites take it back.
func handover(t *testing.T, s *scene) {
	t.Helper()
	config := rest.CopyConfig(s.Config)
	config.Timeout = 10 * time.Second
	check := func() (doctor.Handover, string) {
		d, err := doctor.New(
			doctor.Config{
				Cluster:   config,
				Namespace: system,
				Elsewhere: "team",
				Now:       time.Now,
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		h, err := d.CheckHandover(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, f := range h.Findings {
			text.WriteString(string(f.Level) + " " + f.Object + " " + f.Message + "\n")
		}
		return h, text.String()
	}
	run := func(command string) {
		head, patch, _ := strings.Cut(command, " '")
		s.MustKubectl(t, "", append(strings.Fields(head)[1:], strings.TrimSuffix(patch, "'"))...)
	}
	s.MustKubectl(t, adapted, apply, "-f", "-")
	s.MustKubectl(t, "", "patch", "forecast", "load", "-n", "team", "--type=merge", "-p",
		`{"spec": {"expose": {"metric": "depth", "matchLabels": {"queue": "a"}}}}`)
	s.patchExternal(t,
		`"service": {"namespace": "monitoring", "name": "adapter"}, "caBundle": null, "insecureSkipTLSVerify": true`)
	var h doctor.Handover
	eventually(t, func() string {
		var text string
		h, text = check()
		for _, want := range []string{
			"APIService " + externalAPI + " ", "error APIService v1beta1.metrics.k8s.io CPU and memory",
			"ok HPA team/old External metric load: the Forecast load provides it, ",
			"ok HPA team/old External metric depth: the Forecast load provides it, ",
			"error HPA team/old External metric depth: no Forecast provides it",
			"error HPA team/old Pods metric busy: ",
		} {
			if !strings.Contains(text, want) {
				return want + " is not in\n" + text
			}
		}
		return ""
	})
	if len(h.Steps) != 1 {
		t.Fatalf("%+v, want the step of one APIService", h.Steps)
	}
	run(h.Steps[0].Do)
	s.serves(t, metric)
	run(h.Steps[0].Back)
	const spec = `jsonpath={.spec.service.name} {.spec.insecureSkipTLSVerify}{.spec.caBundle}`
	if got := s.MustKubectl(t, "", "get", "apiservice", externalAPI, "-o", spec); got != "adapter true" {
		t.Errorf("after the way back the APIService leads to %q", got)
	}
	run(h.Steps[0].Do)
	s.serves(t, metric)
	s.MustKubectl(t, "", "delete", "hpa", "old", "-n", "team")
	s.MustKubectl(t, "", "delete", "apiservice", "v1beta1.metrics.k8s.io")
}
