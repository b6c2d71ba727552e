// Package signal turns the name of a demand signal and a workload into PromQL that yields one series: the workload's
// total demand.
//
// A Preset is a built-in query for a server or exporter ("vllm/inflight"). It is limited to the Forecast's namespace
// and finds the target's pods through their owners. A Source is a server or exporter with its presets and the signals
// that it does not report. [Trust] is whose series count. Nothing here runs a query.
package signal

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/forewarm/forewarm/pkg/printable"
)

// maxName is the maximum length of the name of a Kubernetes object (RFC 1123 subdomain), in bytes.
const maxName = 253

// Target is the workload of the demand: the Forecast's targetRef without its API version.
type Target struct {
	// Kind is "Deployment", "StatefulSet", "LeaderWorkerSet" or any other kind that owns pods. For "RayService",
	// "InferenceService" and "LLMInferenceService" (KServe), "Service" and "Revision" (Knative) the owners in between
	// are known.
	Kind string
	Name string
	// FormerNames are other names that it has or had: its pods are those of all its names.
	FormerNames []string
}

// Preset is a query template for one demand signal of one server or exporter.
type Preset struct {
	// Name is "source/signal", as in spec.signal.preset.
	Name string
	// Brief is the purpose of the value in a few words.
	Brief string
	// Summary describes the value, and when it must not be used.
	Summary string
	// Target describes the AverageValue target for an HPA, which is also the Forecast's scaling.target.
	Target string
	// Unit of the value, "requests/s".
	Unit string
	// Rate marks a rate, observed as the mean of the last minute. Otherwise the value is a gauge.
	Rate bool

	template func(scope) string
	// page identifies the engines of a pod; with the zero value, every port is an engine.
	page page
	// profiling is the DCGM field that is read, in its spellings; empty for other presets.
	profiling string
	// wait is the wait of a lateness preset.
	wait time.Duration
	// step is the step of the samples; 0 means DefaultStep.
	step time.Duration
}

// Every is the preset for samples that are a step apart.
func (p Preset) Every(step time.Duration) Preset {
	p.step = step
	return p
}

// Undivided is the preset without the metrics that tell the engines of a pod apart: with its quantities alone.
func (p Preset) Undivided() Preset {
	p.page = page{}
	return p
}

// Render is the preset's PromQL for one workload: a single series, the total. No series means that none of the target's
// pods reported. Names are quoted; an empty or impossible name is an error.
func (p Preset) Render(namespace string, target Target, trust Trust) (string, error) {
	if err := checkNames(namespace, target); err != nil {
		return "", fmt.Errorf("preset %s: %w", p.Name, err)
	}
	s := scope{
		namespace: namespace, target: target, trust: trust,
		page: p.page, rate: p.Rate, wait: p.wait, step: cmp.Or(p.step, DefaultStep),
	}
	expr, err := s.formatQuery(p.template(s))
	if err != nil {
		return "", fmt.Errorf("preset %s for %s %q in namespace %q: %w",
			p.Name, target.Kind, target.Name, namespace, err)
	}
	return expr, nil
}

// formatQuery joins the lines of a rendered template, limits it to the cluster, and checks that it is PromQL.
func (s scope) formatQuery(text string) (string, error) {
	expr := strings.Join(strings.Fields(text), " ")
	root, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil || s.trust.Cluster == "" {
		return expr, err
	}
	err = s.trust.Cluster.Limit(root)
	return root.String(), err
}

func checkNames(namespace string, target Target) error {
	problems := []error{
		checkName("namespace", namespace), checkName("target kind", target.Kind), checkName("target name", target.Name),
	}
	for _, former := range target.FormerNames {
		problems = append(problems, checkName("former name", former))
	}
	return errors.Join(problems...)
}

// checkName rejects a text that cannot be the name of a Kubernetes object. Unusual characters are quoted and not rejected, because the API
// server validates names.
func checkName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%s is empty", what)
	case len(name) > maxName:
		return fmt.Errorf("%s has %d bytes; at most %d are allowed", what, len(name), maxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("%s %q is not UTF-8", what, name)
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == 0x85 || r == 0xa0 }):
		return fmt.Errorf("%s %q has white space or control characters", what, name)
	}
	return nil
}

// clip shortens user input for an error message.
func clip(s string) string {
	const limit = 80
	return printable.Clip(s, limit)
}
