package doctor

import (
	"context"
	"time"

	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/signal/diagnose"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// owners is the metric of kube-state-metrics by which presets find the pods of a workload.
const owners = "kube_pod_owner"

// copies warns of several scrapes of one target, which a query's sum counts several times. Presets merge them.
func (p *patient) copies(ctx context.Context) []Finding {
	if p.forecast.Spec.Signal.Query == "" {
		return nil
	}
	var out []Finding
	for _, s := range promexpr.Selectors(p.target.Expr) {
		n, found := p.value(ctx,
			"max(count without (job, endpoint, service, prometheus, prometheus_replica) ("+s.String()+"))")
		if !found || n < 2 {
			continue
		}
		out = append(out, p.finding(
			"Labels",
			Warning,
			"remove one of the scrape jobs, or merge the copies in the query: sum(max without (job, endpoint, service) (…))",
			"%.0f series of %s differ only in their scrape job: unless the query merges these series, it counts the "+
				"demand %.0f times",
			n,
			s,
			n,
		))
	}
	return out
}

// diagnose says why a query has no series.
func (p *patient) diagnose(ctx context.Context) Finding {
	if p.forecast.Spec.Signal.Preset != "" {
		if f := p.claims(ctx, Error); f != nil { // Which names the namespaces: the operator may know them.
			return *f
		}
	}
	of, ok := p.target.Diagnosis.(diagnose.Query)
	if !ok {
		return p.finding("Source", Error, "check the query", "the query has no series")
	}
	cause, err := of.Find(func(expr, label string) (map[string]float64, error) {
		return p.source.FetchByLabel(
			ctx,
			refresh.Query{Namespace: p.forecast.Namespace, Expr: expr, To: p.now, Step: time.Second},
			label,
		)
	})
	if err != nil {
		return p.finding("Source", Error, "correct the query or the Prometheus", "%v", err)
	}
	return p.finding(cause.Check, Error, cause.Remedy, "%s", cause.Message)
}
