package adopt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// scaledObject converts the triggers of a ScaledObject, and writes the one that reads the Forecasts.
func (c *converter) scaledObject(object *unstructured.Unstructured) {
	s, err := autoscaler.FromScaledObject(object)
	if err != nil {
		c.leave(objectName(object), "", "it cannot be read: "+err.Error()+": correct it")
		return
	}
	edited := object.DeepCopy()
	triggers, _, _ := unstructured.NestedSlice(edited.Object, "spec", "triggers") //nolint:errcheck // As read above.
	var why, timetable []string
	for i := range s.Metrics {
		t := &s.Metrics[i]
		kind := strings.TrimSuffix(t.Kind, " trigger")
		what := fmt.Sprintf("triggers[%d] (%s)", i, kind)
		switch kind {
		case "external", "external-push":
		case "cron":
			const learns = "%s holds %s replicas from %q to %q, %s. The Forecast learns what repeats in its history: keep the trigger " +
				"in shadow mode, then remove it. A floor at all times is minReplicaCount."
			timetable = append(timetable, fmt.Sprintf(learns, what, t.Metadata["desiredReplicas"], t.Metadata["start"],
				t.Metadata["end"], t.Metadata["timezone"]))
		case "prometheus":
			f := v1alpha1.Forecast{}
			f.Namespace, f.Name = object.GetNamespace(), fmt.Sprintf("%s-%d", object.GetName(), i)
			f.Spec.TargetRef = v1alpha1.TargetRef{Kind: s.Workload.Kind, Name: s.Workload.Name}
			if s.Workload.APIVersion != manifest.DefaultAPIVersion {
				f.Spec.TargetRef.APIVersion = s.Workload.APIVersion
			}
			if err = c.trigger(&f, t, objectName(object)+", "+what); err != nil {
				c.leave(objectName(object), what, err.Error())
				continue
			}
			triggers[i] = map[string]any{
				"type": "external-push",
				"metadata": map[string]any{
					"scalerAddress": "forewarm.forewarm-system.svc:9090",
					"forecast":      f.Name,
					"target":        t.Metadata["threshold"],
				},
				"authenticationRef": map[string]any{"kind": "ClusterTriggerAuthentication", "name": "forewarm"},
			}
			why = append(why, what+" reads the Forecast "+f.Name+" instead of the Prometheus.")
		default:
			c.leave(objectName(object), what, "it does not read a Prometheus: leave it as it is")
		}
	}
	if err = unstructured.SetNestedSlice(edited.Object, triggers, "spec", "triggers"); len(why) > 0 && err == nil {
		c.after(object, edited.Object["spec"], append(why, timetable...))
		return
	}
	for _, text := range timetable {
		c.leave(objectName(object), "cron",
			text+" No trigger beside it was converted: write a Forecast of the workload's demand")
	}
}

// trigger writes the Forecast of a prometheus trigger.
func (c *converter) trigger(f *v1alpha1.Forecast, t *hpa.AutoscalerMetric, from string) error {
	if t.Refused != "" {
		return errors.New(t.Refused + "; or write a Forecast of the demand by hand")
	}
	target := *apiresource.NewMilliQuantity(t.Target, apiresource.DecimalSI)
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(t.Metadata["query"])
	if err != nil {
		return fmt.Errorf("its query is not PromQL: %w: correct it", err)
	}
	expr, taken := plain(expr)
	if trick := remaining(expr); trick != "" {
		const several = "its query computes from several operands with %s: write the plain demand of now as the query"
		return fmt.Errorf(several, trick)
	}
	server := prometheus.RedactedURL(t.Metadata["serverAddress"])
	why := []string{"signal: the query of the trigger, of " + server + ": Forewarm must read the same."}
	for _, trick := range taken {
		why = append(why, trick+" is taken off the query: the Forecast looks ahead of the plain demand by itself.")
	}
	return c.write(f, expr, target, from, why)
}

// tricks are functions by which a query looks ahead, or at the worst of a time.
var tricks = []string{ //nolint:gochecknoglobals // A constant table.
	"max_over_time", "quantile_over_time", "predict_linear", "double_exponential_smoothing",
}

// plain takes tricks and offsets off an expression, from the outside, as long as it has one operand. taken names them.
func plain(expr parser.Expr) (inner parser.Expr, taken []string) { //nolint:ireturn // A sum type.
	stripped := false // The range goes with the function that looked over it.
	for part := &expr; part != nil; {
		var next *parser.Expr
		ranged := false
		if at := offsetOf(*part); at != nil && *at != 0 {
			taken, *at = append(taken, "offset "+model.Duration(*at).String()), 0
		}
		switch n := (*part).(type) {
		case *parser.MatrixSelector:
			next, ranged = &n.VectorSelector, true
		case *parser.SubqueryExpr:
			next, ranged = &n.Expr, true
		case *parser.ParenExpr:
			next = &n.Expr
		case *parser.AggregateExpr:
			next = &n.Expr
		case *parser.Call:
			if isTrick(n) {
				taken, stripped = append(taken, n.Func.Name), true
				*part, next = n.Args[slices.IndexFunc(n.Args, isRange)], part
			} else if len(n.Args) == 1 {
				next = &n.Args[0]
			}
		}
		if ranged && stripped {
			*part, next, stripped = *next, part, false
		}
		part = next
	}
	return expr, taken
}

func isTrick(call *parser.Call) bool {
	return slices.Contains(tricks, call.Func.Name) && slices.ContainsFunc(call.Args, isRange)
}

func isRange(e parser.Expr) bool { return e.Type() == parser.ValueTypeMatrix }

// offsetOf is where a node has its offset; nil where it cannot have one.
func offsetOf(node parser.Node) *time.Duration {
	switch n := node.(type) {
	case *parser.VectorSelector:
		return &n.OriginalOffset
	case *parser.SubqueryExpr:
		return &n.OriginalOffset
	}
	return nil
}

// remaining is a trick or offset that stands elsewhere; empty where there is none.
func remaining(expr parser.Expr) (trick string) {
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if at := offsetOf(node); at != nil && *at != 0 {
			trick = "offset"
		} else if call, ok := node.(*parser.Call); ok && isTrick(call) {
			trick = call.Func.Name
		}
		return nil
	})
	return trick
}
