package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
)

// owners is the metric of kube-state-metrics by which presets find the pods of a workload.
const owners = "kube_pod_owner"

// selectors are those of an expression, without offsets; each once.
func selectors(expr string) []*parser.VectorSelector {
	root, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return nil
	}
	var out []*parser.VectorSelector
	parser.Inspect(root, func(node parser.Node, _ []parser.Node) error {
		if v, ok := node.(*parser.VectorSelector); ok {
			plain := &parser.VectorSelector{Name: v.Name, LabelMatchers: v.LabelMatchers}
			if !slices.ContainsFunc(out, func(o *parser.VectorSelector) bool { return o.String() == plain.String() }) {
				out = append(out, plain)
			}
		}
		return nil
	})
	return out
}

// copies warns of several scrapes of one target, which a query's sum counts several times. Presets merge them.
func (p *patient) copies(ctx context.Context) []Finding {
	if p.forecast.Spec.Signal.Query == "" {
		return nil
	}
	var out []Finding
	for _, s := range selectors(p.target.Expr) {
		n, found := p.value(ctx,
			"max(count without (job, endpoint, service, prometheus, prometheus_replica) ("+s.String()+"))")
		if !found || n < 2 {
			continue
		}
		out = append(out, p.finding(
			"Labels",
			Warning,
			"remove one of the scrape jobs, or merge the copies in the query: sum(max without (job, endpoint, service) (…))",
			"%.0f series of %s differ in their scrape job only: unless the query merges them, it counts the demand %.0f times",
			n,
			s,
			n,
		))
	}
	return out
}

// within counts the series of a metric in the Forecast's namespace, however they were scraped.
func (p *patient) within(ctx context.Context, metric string) int {
	return p.count(ctx,
		fmt.Sprintf("%s{namespace=%q} or %[1]s{exported_namespace=%[2]q}", metric, p.forecast.Namespace))
}

// diagnose says why a query has no series.
func (p *patient) diagnose(ctx context.Context) Finding {
	preset, namespace := p.forecast.Spec.Signal.Preset, p.forecast.Namespace
	if preset == "" {
		return p.diagnoseQuery(ctx)
	}
	if f := p.claims(ctx, Error); f != nil {
		return *f
	}
	const install = "install kube-state-metrics, or scrape it: presets find the pods of a workload by its metrics"
	if p.count(ctx, owners) == 0 {
		return p.finding("KubeStateMetrics", Error, install, "the Prometheus has no series of %s", owners)
	}
	if p.within(ctx, owners) == 0 {
		return p.finding("KubeStateMetrics", Error,
			"let kube-state-metrics report this namespace, and the scrape keep its labels",
			"the series of %s have no label namespace or exported_namespace of %s", owners, namespace)
	}
	var absent []string
	for _, s := range selectors(p.target.Expr) {
		switch {
		case strings.HasPrefix(s.Name, "kube_") || slices.Contains(absent, s.Name):
		case p.count(ctx, s.Name) == 0:
			absent = append(absent, s.Name)
		default:
			if f := p.diagnoseLabels(ctx, s.Name); f != nil {
				return *f
			}
		}
	}
	if len(absent) > 0 {
		return p.finding("Source", Error,
			"scrape the server's metrics, or choose the preset of the server that you run",
			"the Prometheus has no series of %s, which the preset %s needs", join(absent), preset)
	}
	ref := p.forecast.Spec.TargetRef
	return p.finding("Source", Error, "check spec.targetRef, and that pods of it run",
		"series of the preset %s exist, but none of a pod of %s/%s", preset, ref.Kind, ref.Name)
}

// diagnoseLabels says which label the series of a metric lack that a preset needs; nil where none.
func (p *patient) diagnoseLabels(ctx context.Context, metric string) *Finding {
	var f Finding
	switch {
	case p.count(ctx, metric+`{exported_pod!="",exported_namespace=""}`) > 0:
		f = p.finding("Labels", Error, "set honorLabels: true in the scrape of the exporter",
			"series of %s have exported_pod without exported_namespace, so their pods are not found", metric)
	case p.within(ctx, metric) == 0:
		f = p.finding("Labels", Error, "let the scrape add namespace and pod, as a PodMonitor or ServiceMonitor does",
			"series of %s exist, but none has a label namespace or exported_namespace of %s", metric,
			p.forecast.Namespace)
	case p.count(ctx, fmt.Sprintf(`%s{namespace=%q,pod="",exported_pod=""}`, metric, p.forecast.Namespace)) > 0:
		f = p.finding("Labels", Error, "let the scrape add the pod, as a PodMonitor or ServiceMonitor does",
			"series of %s have no label pod", metric)
	default:
		return nil
	}
	return &f
}

// diagnoseQuery says why a user's own query has no series.
func (p *patient) diagnoseQuery(ctx context.Context) Finding {
	for _, s := range selectors(p.target.Expr) {
		switch {
		case s.Name == "" || p.count(ctx, s.String()) > 0:
		case p.count(ctx, s.Name) == 0:
			return p.finding("Source", Error, "correct the name, or scrape the metric",
				"the Prometheus has no series of %s", s.Name)
		case p.count(ctx, s.Name+`{exported_namespace!=""}`)+p.count(ctx, s.Name+`{exported_pod!=""}`) > 0:
			return p.finding(
				"Labels",
				Error,
				"set honorLabels: true in the scrape, or match exported_namespace and exported_pod",
				"no series matches %s, but series of %s have the labels of the workload in exported_namespace and exported_pod",
				s,
				s.Name,
			)
		default:
			return p.finding("Labels", Error, "correct the labels in the query, or let the scrape add them",
				"series of %s exist, but none matches %s", s.Name, s)
		}
	}
	return p.finding("Source", Error, "check the labels by which the query joins its parts",
		"each part of the query has series, but the whole has none")
}
