// Package signal turns the name of a demand signal and a workload into PromQL that yields one series: the workload's
// total demand.
//
// A Preset is a query that is ours, by server or exporter ("vllm/inflight"); it carries the Forecast's namespace and
// finds the target's pods through their owners. A Source is such a server, with its presets and what it does not report. A tenant's own query is confined to its namespace by Confine, or only
// checked by Check where the tenant may see the whole cluster. Nothing here runs a query.
package signal

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/forewarm/forewarm/pkg/printable"
)

// maxName is the longest name that Kubernetes gives to an object (RFC 1123 subdomain), in bytes.
const maxName = 253

// Target is the workload whose demand is asked for: the Forecast's targetRef without its API version.
type Target struct {
	// Kind is "Deployment", "StatefulSet", "LeaderWorkerSet" or any other kind that owns pods. "RayService",
	// "InferenceService" and "LLMInferenceService" (KServe), "Service" and "Revision" (Knative) are known to own them through
	// others.
	Kind string
	Name string
}

// Preset is a query template for one demand signal of one server or exporter.
type Preset struct {
	// Name is "source/signal", as it stands in spec.signal.preset.
	Name string
	// Brief says in a few words what the value is for.
	Brief string
	// Summary says in sentences what the value is and when it must not be used.
	Summary string
	// Target says what to write as the AverageValue target of an HPA, which is also the Forecast's scaling.target.
	Target string
	// Unit of the value, "requests/s".
	Unit string
	// Rate says that the value is a rate, observed as the mean of the last minute; else it is a gauge.
	Rate bool

	template func(scope) string
}

// Render is the preset's PromQL for one workload: a single series, the total. No series means that none of the
// target's pods reported. Names are quoted, whatever they hold; an empty or impossible one is an error.
func (p Preset) Render(namespace string, target Target) (string, error) {
	if err := checkNames(namespace, target); err != nil {
		return "", fmt.Errorf("preset %s: %w", p.Name, err)
	}
	expr, err := render(p.template(scope{namespace: namespace, target: target}))
	if err != nil {
		return "", fmt.Errorf("preset %s for %s %q in namespace %q: %w",
			p.Name, target.Kind, target.Name, namespace, err)
	}
	return expr, nil
}

// render makes one line of what a template wrote, and checks that it is PromQL.
func render(text string) (string, error) {
	expr := strings.Join(strings.Fields(text), " ")
	_, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	return expr, err
}

func checkNames(namespace string, target Target) error {
	return errors.Join(checkName("namespace", namespace),
		checkName("target kind", target.Kind), checkName("target name", target.Name))
}

// checkName refuses what no Kubernetes object is called. Characters that are merely odd are quoted, not refused:
// that a name is a valid one is the API server's business.
func checkName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%s is empty", what)
	case len(name) > maxName:
		return fmt.Errorf("%s has %d bytes, at most %d are allowed", what, len(name), maxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("%s %q is not UTF-8", what, name)
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == 0x85 || r == 0xa0 }):
		return fmt.Errorf("%s %q holds white space or control characters", what, name)
	}
	return nil
}

// clip shortens what a user wrote to what an error message may repeat.
func clip(s string) string {
	const limit = 80
	return printable.Clip(s, limit)
}
