package adopt

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/pkg/api/parse"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/catalogue"
)

// ConvertConfig says how Convert converts.
type ConvertConfig struct {
	// Rules are prometheus-adapter's; the zero value is none.
	Rules Rules
	// Series are the names of series that exist. They decide if several rules may give a metric.
	Series []string
	// TenantLabel is the label of namespaces in Forewarm's source.
	TenantLabel string
}

// Conversion is what becomes of all autoscalers.
type Conversion struct {
	Converted []Document `json:"converted"`
	LeftOut   []LeftOut  `json:"leftOut"`
}

// LeftOut is what was not converted. The reason ends with what to do.
type LeftOut struct {
	Object string `json:"object"`
	Metric string `json:"metric,omitempty"`
	Reason string `json:"reason"`
}

// converter collects a Conversion.
type converter struct {
	ConvertConfig
	Conversion

	// askers has the HPAs of each workload, and the HPAs that read each External metric, described for messages.
	askers map[string][]string
	// timetables are those of all autoscalers. The first Forecast of a workload gets them as events.
	timetables []*timetable
}

func (c *converter) leave(object, metric, reason string) {
	c.LeftOut = append(c.LeftOut, LeftOut{object, metric, reason})
}

// Convert converts the HPAs that read prometheus-adapter's metrics, and the ScaledObjects with prometheus triggers. The cron triggers of
// ScaledObjects, and CronHorizontalPodAutoscalers, become events of these Forecasts.
func Convert(cfg ConvertConfig, found *Objects) Conversion {
	c := converter{
		ConvertConfig: cfg,
		Conversion:    Conversion{Converted: []Document{}, LeftOut: append([]LeftOut{}, cfg.Rules.broken...)},
		askers:        map[string][]string{},
	}
	for _, reason := range found.Unread {
		c.leave("", "", reason)
	}
	if len(c.Rules.ResourceRules) > 0 {
		const instead = "Forewarm does not serve CPU and memory: install metrics-server before you remove " +
			"prometheus-adapter, so that kubectl top and HPAs on CPU or memory continue to work"
		c.leave("resourceRules", "", instead)
	}
	for _, object := range found.Objects {
		if object.GetKind() == kindCronHPA {
			c.cronHPA(object, found.Objects)
		}
	}
	hpas := make([]*autoscalingv2.HorizontalPodAutoscaler, len(found.Objects))
	for i, object := range found.Objects {
		switch object.GetKind() {
		case hpa.KindScaledObject:
			c.scaledObject(object)
			continue
		case kindCronHPA:
			continue
		case kindScaledJob:
			c.leave(objectName(object), "", "it starts jobs and has no replicas to scale: leave it as it is")
			continue
		}
		switch h, err := autoscaler.DecodeHPA(object); {
		case err != nil:
			c.leave(objectName(object), "", "it cannot be read: "+err.Error()+": correct it")
		case autoscaler.FromHPA(h).Owner == "": // Otherwise its ScaledObject is converted.
			hpas[i] = h
			for _, what := range wants(h) {
				c.askers[what] = append(c.askers[what], h.Name)
			}
		}
	}
	for i, h := range hpas {
		if h != nil {
			c.hpa(h, found.Objects[i])
		}
	}
	c.leaveTimetables()
	return c.Conversion
}

// wants returns what only one HPA may use, because a Forecast has one workload, and a workload has one HPA.
func wants(h *autoscalingv2.HorizontalPodAutoscaler) []string {
	out := []string{"the " + h.Spec.ScaleTargetRef.Kind + " " + h.Namespace + "/" + h.Spec.ScaleTargetRef.Name}
	for i := range h.Spec.Metrics {
		if e := h.Spec.Metrics[i].External; e != nil {
			out = append(out, fmt.Sprintf("the External metric %s in namespace %s with selector %s", e.Metric.Name,
				h.Namespace, metav1.FormatLabelSelector(e.Metric.Selector)))
		}
	}
	return out
}

// hpa converts the metrics of an HPA. If one of them is not External, it also writes the HPA that reads the Forecast.
func (c *converter) hpa(h *autoscalingv2.HorizontalPodAutoscaler, object *unstructured.Unstructured) {
	for i, what := range wants(h) {
		n, advice := c.askers[what], "keep one"
		if len(n) < 2 { //nolint:mnd // One is not another.
			continue
		}
		if i > 0 {
			advice = "write a Forecast for each " + h.Spec.ScaleTargetRef.Kind + ", and let each HPA read its own"
		}
		reason := fmt.Sprintf("%s is used by the HPAs %s: %s", what, strings.Join(n, " and "), advice)
		c.leave(objectName(object), "", reason)
		return
	}
	edited := h.DeepCopy()
	var why []string
	for i := range h.Spec.Metrics {
		q, err := readRequest(h, &h.Spec.Metrics[i])
		if err == nil {
			err = c.forecast(&q, objectName(object))
		}
		switch {
		case err != nil:
			c.leave(objectName(object), q.what, err.Error())
		case q.kind.Kind != "":
			external := &autoscalingv2.ExternalMetricSource{Target: q.target}
			external.Metric.Name = q.object.Name
			kind := autoscalingv2.ExternalMetricSourceType
			edited.Spec.Metrics[i] = autoscalingv2.MetricSpec{Type: kind, External: external}
			sum := "The HPA asks for the same number of replicas as long as all pods are ready and report."
			if len(q.grouping) > 0 {
				const further = "The rule also groups by %s. If a pod has several series, the HPA reads one of them, " +
					"but the Forecast adds up all of them. Compare the replicas in shadow mode."
				sum = fmt.Sprintf(further, strings.Join(q.grouping, ", "))
			}
			why = append(why, fmt.Sprintf("metrics[%d] was the %s. The Forecast is its sum. %s", i, q.what, sum))
		}
	}
	if spec, err := runtime.DefaultUnstructuredConverter.ToUnstructured(edited); err == nil && len(why) > 0 {
		c.after(object, spec["spec"], why)
	}
}

// request is what a metric of an HPA requests, and the Forecast that answers it.
type request struct {
	what   string // A description.
	metric string
	set    map[string]string // The labels of the selector.
	target autoscalingv2.MetricTarget
	// kind is the kind of the objects that the metric describes, and names matches their names. Both are empty for an External metric.
	kind   schema.GroupVersionKind
	names  matcher
	object v1alpha1.Forecast
	// grouping has labels, in addition to the object's label, by which the series are grouped.
	grouping []string
}

// readRequest reads a metric of an HPA.
func readRequest(h *autoscalingv2.HorizontalPodAutoscaler, m *autoscalingv2.MetricSpec) (q request, err error) {
	q.what = string(m.Type) + " metric"
	var id autoscalingv2.MetricIdentifier
	ref := h.Spec.ScaleTargetRef
	switch {
	case m.External != nil:
		id, q.target = m.External.Metric, m.External.Target
	case m.Pods != nil:
		id, q.target, q.kind = m.Pods.Metric, m.Pods.Target, schema.GroupVersionKind{Kind: "Pod"}
		// This is how controllers name pods. They shorten longer names.
		suffix := map[string]string{"Deployment": "-[a-z0-9]+-[a-z0-9]{5}", "StatefulSet": "-[0-9]+"}[ref.Kind]
		if q.names = (matcher{"", "=~", regexp.QuoteMeta(ref.Name) + suffix}); suffix == "" || len(ref.Name) > 46 {
			err = errors.New("the names of its pods cannot be derived from the workload's name: " +
				"write a Forecast with your own query")
		}
	case m.Object != nil:
		of := m.Object.DescribedObject
		id, q.target, q.names = m.Object.Metric, m.Object.Target, matcher{"", "=", of.Name}
		q.kind = schema.FromAPIVersionAndKind(of.APIVersion, of.Kind)
	default:
		return q, errors.New("it comes from metrics-server, not from prometheus-adapter: leave it as it is")
	}
	q.metric = id.Name
	q.what += " " + id.Name
	if q.target.Type != autoscalingv2.AverageValueMetricType || q.target.AverageValue == nil {
		err = errors.New("its target is not of type AverageValue: " +
			"write an averageValue, the demand that a replica sustains (docs/hpa.md)")
	}
	q.object.Namespace, q.object.Name = h.Namespace, h.Name+"-"+id.Name
	q.object.Spec.TargetRef = v1alpha1.TargetRef{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name}
	if err != nil {
		return q, err
	}
	if q.set, err = parse.Selector(id.Selector); err != nil {
		return q, fmt.Errorf("its selector is invalid: %w", err)
	}
	return q, nil
}

// forecast writes the Forecast that answers a request.
func (c *converter) forecast(q *request, from string) error {
	all := c.Rules.ExternalRules
	if q.kind.Kind != "" {
		all = c.Rules.Rules
	}
	r, series, err := findRule(all, q.metric, c.Series)
	if err != nil {
		return err
	}
	var matchers []matcher
	for _, key := range slices.Sorted(maps.Keys(q.set)) {
		matchers = append(matchers, matcher{key, "=", q.set[key]})
	}
	if r.Resources.Namespaced == nil || *r.Resources.Namespaced || q.kind.Kind != "" {
		label, unknown := r.labelOf(schema.GroupVersionKind{Kind: "Namespace"})
		if unknown != nil {
			return unknown
		}
		matchers = append(matchers, matcher{label, "=", q.object.Namespace})
	}
	var groupBy []string
	if q.kind.Kind != "" {
		if q.names.label, err = r.labelOf(q.kind); err != nil {
			return err
		}
		matchers, groupBy = append(matchers, q.names), []string{q.names.label}
	}
	expr, err := r.expand(series, matchers, groupBy)
	if err != nil {
		return err
	}
	if len(groupBy) > 0 {
		q.grouping = furtherLabels(expr, matchers)
	}
	expr, notes, err := demandOf(expr)
	if err != nil {
		return err
	}
	const gives = "signal: %s produces the metric from the series %s. The query adds up all its values, as the HPA does."
	why := append([]string{fmt.Sprintf(gives, r.at, series)}, notes...)
	if q.kind.Kind == "" {
		q.object.Spec.Expose = &v1alpha1.Expose{Metric: q.metric, MatchLabels: q.set}
		why = append(why, "expose: the HPA asks for this name with these labels, so it needs no change.")
	}
	return c.write(&q.object, expr, *q.target.AverageValue, from+", "+q.what, why)
}

// furtherLabels returns the labels by which a query groups, except the labels of its matchers.
func furtherLabels(expr parser.Expr, matchers []matcher) []string {
	a, ok := expr.(*parser.AggregateExpr)
	for operand := operandOf(expr); !ok && operand != nil; operand = operandOf(operand) {
		a, ok = operand.(*parser.AggregateExpr)
	}
	if !ok || a.Without {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(a.Grouping), func(label string) bool {
		isMatched := func(m matcher) bool { return m.label == label }
		return label == labels.BucketLabel || slices.ContainsFunc(matchers, isMatched)
	})
}

// write completes a Forecast, checks it like Forewarm does, and adds it with a unique name.
func (c *converter) write(
	f *v1alpha1.Forecast, expr parser.Expr, before apiresource.Quantity, from string, why []string,
) error {
	f.Name = manifest.FreeName(f.Name, func(name string) bool {
		object := "Forecast " + f.Namespace + "/" + name
		return slices.ContainsFunc(c.Converted, func(d Document) bool { return d.Object == object })
	})
	confined := c.confined(expr, f.Namespace)
	f.Spec.Signal.Query = total(expr)
	f.Spec.Scaling = &v1alpha1.Scaling{Before: &v1alpha1.BeforeScaling{Target: before}}
	why = append(why,
		"serve: Shadow serves the observed demand, so the replicas do not change while Forewarm judges the forecast.",
		"scaling.before: the current target, with which Forewarm compares itself.")
	workload := workloadKey(f.Namespace, f.Spec.TargetRef.Kind, f.Spec.TargetRef.Name)
	var events []*timetable
	for _, t := range c.timetables {
		switch {
		case t.workload != workload || t.forecast != "" || t.err != nil:
		case len(events) == manifest.MaxForecastEvents:
			t.err = fmt.Errorf("the Forecast %s already has %d events", f.Name, len(events))
		case slices.ContainsFunc(events, func(other *timetable) bool { return other.event.Name == t.event.Name }):
			const text = "the Forecast %s already has an event of this name: give the job a name of its own"
			t.err = fmt.Errorf(text, f.Name)
		default:
			why = append(why, fmt.Sprintf("events[%d]: %s, %s", len(events), t.object, t.text)+keepTimetable)
			events, f.Spec.Events = append(events, t), append(f.Spec.Events, t.event)
		}
	}
	signals := catalogue.Signals{Label: c.TenantLabel, Trust: signal.DefaultTrust()}
	if !confined {
		signals.Free = []string{f.Namespace}
		const free = "Not every selector in the query has %s=%q. Forewarm adds this matcher, and refuses a different one, " +
			"unless --cluster-query-namespaces lists the namespace. Compare the values in shadow mode."
		why = append(why, fmt.Sprintf(free, c.TenantLabel, f.Namespace))
	}
	document, err := forecastDocument(f, signals)
	if err != nil {
		return fmt.Errorf("its Forecast would be invalid: %w: write the Forecast by hand", err)
	}
	document.From, document.Why = from, why
	c.Converted = append(c.Converted, document)
	for _, t := range events {
		t.forecast = f.Name
	}
	return nil
}

// total returns the sum over an expression's series, because the HPA adds up the items of an answer.
func total(expr parser.Expr) string {
	a, ok := expr.(*parser.AggregateExpr)
	switch {
	case ok && len(a.Grouping) == 0 && !a.Without && a.Param == nil:
		return a.String()
	case expr.Type() == parser.ValueTypeScalar:
		return "vector(" + expr.String() + ")"
	}
	return "sum(" + expr.String() + ")"
}

// confined reports whether every selector requires the namespace. A regular expression that only matches the namespace is replaced by its
// name.
func (c *converter) confined(expr parser.Expr, namespace string) bool {
	all := true
	for _, selector := range parser.ExtractSelectors(expr) {
		own := slices.ContainsFunc(selector, func(m *labels.Matcher) bool {
			if m.Name == c.TenantLabel && m.Type == labels.MatchRegexp && m.Value == namespace {
				*m = *labels.MustNewMatcher(labels.MatchEqual, c.TenantLabel, namespace)
			}
			return m.Name == c.TenantLabel && m.Type == labels.MatchEqual && m.Value == namespace
		})
		all = all && own
	}
	return all
}

// after adds an autoscaler with a new spec.
func (c *converter) after(object *unstructured.Unstructured, spec any, why []string) {
	kept := map[string]any{"name": object.GetName(), "namespace": object.GetNamespace()}
	if set := object.GetLabels(); len(set) > 0 {
		kept["labels"] = set
	}
	annotations := maps.Clone(object.GetAnnotations())
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	if len(annotations) > 0 {
		kept["annotations"] = annotations
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": object.GetAPIVersion(), "kind": object.GetKind(), "metadata": kept, "spec": spec,
	})
	name := objectName(object)
	if err != nil {
		c.leave(name, "", err.Error()+": edit it by hand")
		return
	}
	c.Converted = append(c.Converted, Document{Object: name, From: name, Why: why, Manifest: string(text), After: true})
}
