// Package catalogue offers the presets and queries of package [signal] to package [manifest], which knows no PromQL.
package catalogue

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/diagnose"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
	"github.com/forewarm/forewarm/pkg/source/tenants"
)

// Signals is a [manifest.Catalogue] of the presets of package [signal]. It confines a namespace's own queries to what it may read.
type Signals struct {
	// Label is the label by which every selector of a query is confined to the namespace, where there is one source.
	Label string
	// Trust is whose reports count; its cluster is that of the one source.
	Trust signal.Trust
	// Free are the namespaces whose queries are not confined.
	Free []string
	// Tenants are the sources that namespaces were granted; nil if there is one source for all.
	Tenants *tenants.Sources
}

var _ manifest.Catalogue = Signals{}

// Source implements manifest.Catalogue.
func (c Signals) Source(name, namespace string) (manifest.Source, error) {
	if c.Tenants != nil {
		grant, err := c.Tenants.Find(name, namespace)
		return manifest.Source{
			SourceRef: grant.Source, TenantLabel: grant.TenantLabel,
			Cluster: grant.Cluster, ScrapeInterval: grant.ScrapeInterval,
		}, err
	}
	return manifest.OneSource{TenantLabel: c.Label, Cluster: string(c.Trust.Cluster)}.Source(name, namespace)
}

// Revision implements manifest.Catalogue.
func (c Signals) Revision() uint64 {
	if c.Tenants == nil {
		return 0
	}
	return c.Tenants.Revision()
}

// Render implements manifest.Catalogue.
func (c Signals) Render(
	preset, namespace string, spec *v1alpha1.ForecastSpec, source manifest.Source, wait time.Duration,
) (manifest.Rendered, error) {
	p, err := signal.Lookup(preset)
	if wait > 0 {
		p, err = signal.LookupLateness(preset, wait)
	}
	if err != nil {
		return manifest.Rendered{}, err
	}
	trust := c.trustIn(source)
	if step, bad := model.ParseDuration(string(spec.Step)); bad == nil { // An invalid step is reported elsewhere.
		p = p.Every(time.Duration(step))
	}
	workload := targetOf(spec, spec.FormerNames...)
	expr, err := p.Render(namespace, workload, trust)
	if err != nil {
		return manifest.Rendered{}, err
	}
	ask := refresh.SideQueries{
		refresh.Clusters:     trust.Clusters(namespace),
		refresh.UnknownOwner: signal.UnknownOwner(expr),
	}
	silent := ""
	if !p.Rate { // Some servers have no counter before the first request.
		silent = signal.NotReporting(expr, namespace, workload, trust)
	}
	if deleted := signal.Deleted(expr, namespace, trust); deleted != "" && strings.HasPrefix(preset, "dcgm/") {
		ask[refresh.DeletedPods] = deleted
		ask[refresh.FrequentDoubts] = promexpr.Labeled(refresh.DoubtLabel, map[string]string{
			refresh.DoubtSilent:    silent,
			refresh.DoubtDeleted:   "count(" + deleted + ")",
			refresh.DoubtProfiling: p.IdleProfiling(namespace, workload, trust),
		})
	} else {
		ask[refresh.NotReporting] = silent
		ask[refresh.Doubts] = promexpr.Labeled(refresh.DoubtLabel,
			map[string]string{refresh.DoubtSamples: promexpr.SamplesInWindow(expr)})
	}
	return manifest.Rendered{
		Expr: expr, SideQueries: ask, Unit: p.Unit, Rate: p.Rate, Lookback: signal.Lookback(expr),
		Diagnosis: diagnose.Query{Expr: expr, Namespace: namespace, Preset: preset, Target: workload, Trust: trust},
	}, nil
}

// Ready implements manifest.Catalogue.
func (c Signals) Ready(namespace string, spec *v1alpha1.ForecastSpec, source manifest.Source) string {
	expr, err := signal.ReadyReplicas(namespace, targetOf(spec), c.trustIn(source))
	if err != nil {
		return "" // The reader has found all other problems; what remains is a workload without countable replicas.
	}
	return expr
}

// targetOf returns the workload of a spec. Its pods include those of its variants and those under other names.
func targetOf(spec *v1alpha1.ForecastSpec, names ...string) signal.Target {
	out := signal.Target{Kind: spec.TargetRef.Kind, Name: spec.TargetRef.Name, FormerNames: slices.Clone(names)}
	for i := range spec.Variants {
		if ref := spec.Variants[i].TargetRef; ref != nil {
			out.FormerNames = append(out.FormerNames, ref.Name)
		}
	}
	return out
}

func (c Signals) trustIn(source manifest.Source) signal.Trust {
	return signal.Trust{
		Exporters: c.Trust.Exporters, Cluster: promexpr.Cluster(source.Cluster),
		ScrapeInterval: cmp.Or(source.ScrapeInterval, c.Trust.ScrapeInterval),
	}
}

// Confine implements manifest.Catalogue.
func (c Signals) Confine(query, namespace string, source manifest.Source) (manifest.Rendered, error) {
	diagnosis := diagnose.Query{Namespace: namespace}
	confine := func(query string) (string, error) {
		_, err := promexpr.Parse(query)
		return query, err
	}
	if !slices.Contains(c.Free, namespace) {
		diagnosis.TenantLabel, diagnosis.Trust.Cluster = source.TenantLabel, promexpr.Cluster(source.Cluster)
		confine = func(query string) (string, error) {
			return promexpr.Confine(query, source.TenantLabel, namespace, promexpr.Cluster(source.Cluster))
		}
	}
	query, err := confine(query)
	if err != nil {
		return manifest.Rendered{}, err
	}
	diagnosis.Expr = query
	return manifest.Rendered{
		Diagnosis: diagnosis,
		SideQueries: refresh.SideQueries{refresh.Doubts: promexpr.Labeled(refresh.DoubtLabel, map[string]string{
			refresh.DoubtCopies: promexpr.Copies(query, confine), refresh.DoubtSamples: promexpr.SamplesInWindow(query),
		})},
		Expr:     query,
		Rate:     promexpr.IsRate(query),
		Average:  promexpr.IsAverage(query),
		Lookback: signal.Lookback(query),
	}, nil
}
