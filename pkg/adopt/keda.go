package adopt

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/printable"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// scaledObject converts the triggers of a ScaledObject, and writes the ScaledObject that reads the Forecasts.
func (c *converter) scaledObject(object *unstructured.Unstructured) {
	edited := object.DeepCopy()
	triggers, _, _ := unstructured.NestedSlice(edited.Object, "spec", "triggers") //nolint:errcheck // As read below.
	s, err := autoscaler.FromScaledObject(withoutPredictions(object))
	if err != nil {
		reason := cmp.Or(unquoted(triggers), err.Error()+": correct it")
		c.leave(objectName(object), "", "it cannot be read: "+reason)
		return
	}
	var why []string
	before := len(c.timetables)
	for i := range s.Metrics {
		if former, _ := triggers[i].(map[string]any); former["type"] == "cron" { //nolint:errcheck,revive // As read above.
			key := workloadKey(object.GetNamespace(), s.Workload.Kind, s.Workload.Name)
			c.cronTrigger(object, key, i, s.Metrics[i].Metadata)
		}
	}
	for i := range s.Metrics {
		t := &s.Metrics[i]
		former, _ := triggers[i].(map[string]any) //nolint:errcheck,revive // As read above.
		kind, _ := former["type"].(string)        //nolint:errcheck,revive // As read above.
		what := fmt.Sprintf("triggers[%d] (%s)", i, kind)
		switch kind {
		case "external", "external-push", "cron":
		case "prometheus", "predictkube":
			f := v1alpha1.Forecast{}
			f.Namespace, f.Name = object.GetNamespace(), fmt.Sprintf("%s-%d", object.GetName(), i)
			f.Spec.TargetRef = v1alpha1.TargetRef{Kind: s.Workload.Kind, Name: s.Workload.Name}
			if s.Workload.APIVersion != manifest.DefaultAPIVersion {
				f.Spec.TargetRef.APIVersion = s.Workload.APIVersion
			}
			if err = c.trigger(&f, t, objectName(object)+", "+what, authenticationOf(former)); err != nil {
				c.leave(objectName(object), what, err.Error())
				continue
			}
			triggers[i] = externalTrigger(f.Name, t.Metadata, former)
			why = append(why, what+" reads the Forecast "+f.Name+" instead of Prometheus.", what+twice)
		default:
			c.leave(objectName(object), what, "it does not read from Prometheus: leave it as it is")
		}
	}
	if err = unstructured.SetNestedSlice(edited.Object, triggers, "spec", "triggers"); len(why) > 0 && err == nil {
		for _, t := range c.timetables[before:] {
			why = append(why, t.outcome())
		}
		c.after(object, edited.Object["spec"], why)
	}
}

// twice says why the target of a converted trigger must be changed later.
const twice = ": the target is the trigger's threshold. Forewarm's forecast contains the headroom. Before you end " +
	"shadow mode, set the target to the full capacity of a replica (forewarm capacity), or you pay for the headroom twice."

// externalTrigger returns a trigger that reads a Forecast and replaces another trigger.
func externalTrigger(forecast string, metadata map[string]string, former map[string]any) map[string]any {
	read := map[string]any{
		"scalerAddress": "forewarm.forewarm-system.svc:9090", "forecast": forecast, "target": metadata["threshold"],
	}
	if activation, ok := metadata["activationThreshold"]; ok {
		read["activation"] = activation
	}
	out := map[string]any{
		"type": "external-push", "metadata": read,
		"authenticationRef": map[string]any{"kind": "ClusterTriggerAuthentication", "name": "forewarm"},
	}
	for _, key := range []string{"name", "useCachedMetrics"} {
		if former[key] != nil {
			out[key] = former[key]
		}
	}
	return out
}

// withoutPredictions returns a ScaledObject in which prometheus triggers replace predictkube triggers. Both have a query and a threshold
// with the same rules.
func withoutPredictions(object *unstructured.Unstructured) *unstructured.Unstructured {
	out := object.DeepCopy()
	field, _, _ := unstructured.NestedFieldNoCopy(out.Object, "spec", "triggers") //nolint:errcheck // Nil has none.
	triggers, _ := field.([]any)                                                  //nolint:errcheck,revive // Nil has none.
	for _, t := range triggers {
		if trigger, ok := t.(map[string]any); ok && trigger["type"] == "predictkube" {
			trigger["type"] = "prometheus"
		}
	}
	return out
}

// unquoted returns the key of a trigger that has a number or a boolean although KEDA reads only text; empty if there is none.
func unquoted(triggers []any) string {
	for i, t := range triggers {
		trigger, _ := t.(map[string]any)                              //nolint:errcheck,revive // Nil has no keys.
		metadata, _, _ := unstructured.NestedMap(trigger, "metadata") //nolint:errcheck // Nil has no keys.
		for _, key := range slices.Sorted(maps.Keys(metadata)) {
			switch value := metadata[key].(type) {
			case int64, float64, bool:
				return fmt.Sprintf("%s of triggers[%d] is not a string: write it in quotes, %[1]s: \"%[3]v\"", key, i,
					value)
			}
		}
	}
	return ""
}

// keyTexts says what happens to the keys of a prometheus or predictkube trigger that a Forecast does not have.
func keyTexts() map[string]string {
	const selects = "selects the data: Forewarm needs a source with the same setting (docs/sources.md), named in signal.source"
	const connects = "is a connection setting: Forewarm's source has its own settings (docs/sources.md)"
	return map[string]string{
		"customHeaders":     selects,
		"queryParameters":   selects,
		"cortexOrgID":       selects,
		"namespace":         selects,
		"unsafeSsl":         connects,
		"timeout":           connects,
		"authModes":         connects,
		"tlsMode":           connects,
		"ignoreNullValues":  "says what an empty result means: Forewarm never takes it for 0, but serves its fallback and reports the problem",
		"predictHorizon":    "is not needed: a Forecast looks ahead by the lead time, which Forewarm measures",
		"historyTimeWindow": "is called spec.history in a Forecast; the default is 14d",
		"queryStep":         "is called spec.step in a Forecast; the default is 30s",
		"metricName":        "is not needed: KEDA names the metric after the Forecast",
	}
}

// lost lists what a trigger has that its Forecast does not have, in the order of the keys.
func lost(t *hpa.AutoscalerMetric, authentication string) (out []string) {
	for _, key := range slices.Sorted(maps.Keys(t.Metadata)) {
		switch key {
		case "serverAddress", "prometheusAddress", "query", "threshold", "activationThreshold":
			continue
		}
		text, known := keyTexts()[key]
		if !known {
			text = "is not converted: compare its effect with docs/keda.md"
		}
		out = append(out, fmt.Sprintf("%s %s %s.", key, shown(key, t.Metadata[key]), text))
	}
	if authentication != "" {
		const own = " has the credentials with which KEDA reads Prometheus: Forewarm's source needs its own credentials " +
			"for the same data (docs/sources.md)."
		out = append(out, "authenticationRef "+authentication+own)
	}
	return out
}

// secretName matches names of headers and parameters that may be secret.
var secretName = regexp.MustCompile(`(?i)auth|token|key|secret|pass|cookie|sig`)

// shown returns the value of a key without parts that may be secret.
func shown(key, value string) string {
	if key != "customHeaders" && key != "queryParameters" {
		return printable.Clip(value, 64)
	}
	var out []string
	for part := range strings.SplitSeq(value, ",") {
		name, text, _ := strings.Cut(strings.TrimSpace(part), "=")
		if secretName.MatchString(name) {
			text = "…"
		}
		out = append(out, printable.Clip(name, 64)+"="+printable.Clip(text, 64))
	}
	return strings.Join(out, ",")
}

// trigger writes the Forecast for a trigger that reads Prometheus.
func (c *converter) trigger(f *v1alpha1.Forecast, t *hpa.AutoscalerMetric, from, authentication string) error {
	if t.Refused != "" {
		return errors.New(t.Refused + "; or write a Forecast for the demand by hand")
	}
	target := *apiresource.NewMilliQuantity(t.Target, apiresource.DecimalSI)
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(t.Metadata["query"])
	if err != nil {
		return fmt.Errorf("its query is not valid PromQL: %w: correct it", err)
	}
	expr, notes, err := demandOf(expr)
	if err != nil {
		return err
	}
	server := prometheus.RedactedURL(cmp.Or(t.Metadata["serverAddress"], t.Metadata["prometheusAddress"]))
	why := []string{"signal: the query of the trigger, which reads " + server + ". Forewarm must read the same data."}
	why = append(append(why, notes...), lost(t, authentication)...)
	if _, set := t.Metadata["ignoreNullValues"]; !set && t.Metadata["prometheusAddress"] == "" && mayBeEmpty(expr) {
		const empty = "The query can return an empty result, which KEDA takes for 0 (ignoreNullValues). Forewarm never " +
			"does: it serves its fallback and reports the problem. If an empty result means a demand of 0, append `or vector(0)`."
		why = append(why, empty)
	}
	return c.write(f, expr, target, from, why)
}

// authenticationOf returns the name of a trigger's authentication; empty if it has none.
func authenticationOf(trigger map[string]any) string {
	if ref, ok := trigger["authenticationRef"].(map[string]any); ok {
		return fmt.Sprint(ref["name"])
	}
	return ""
}
