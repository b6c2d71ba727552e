package doctor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/catalogue"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// checkHistory asks the Prometheus itself: its clock, and the history of each Forecast.
func checkHistory(ctx context.Context, d *Doctor, s *state) []Finding {
	if d.Prometheus.URL == "" {
		f := Finding{
			Check:   "History",
			Level:   Skipped,
			Message: "forewarm doctor did not check the length of the history, its gaps, its labels and the clock of the Prometheus",
			Remedy:  "set --prometheus to the URL of a Prometheus that you can reach, for example with kubectl port-forward",
		}
		if own := s.args["prometheus-url"]; own != "" {
			f.Remedy += "; Forewarm itself reads " + prometheus.RedactedURL(own)
		}
		return []Finding{f}
	}
	if s.args["sources-file"] != "" {
		return []Finding{
			{
				Check: "History",
				Level: Skipped,
				Message: "forewarm doctor did not check the histories, because Forewarm reads from several sources (--sources-file) and " +
					"the doctor can only read one",
				Remedy: "kubectl get forecasts -A -o wide shows whether the source of each Forecast works",
			},
		}
	}
	source, err := prometheus.New(d.Prometheus)
	if err != nil {
		return []Finding{{Check: "Source", Level: Error, Message: err.Error(), Remedy: "correct --prometheus"}}
	}
	defer source.Close()
	began := d.Now()
	at, err := source.Clock(ctx)
	if err != nil {
		return []Finding{{
			Check: "Source", Level: Error, Message: "the Prometheus does not answer: " + err.Error(),
			Remedy: "check --prometheus, and the port-forward",
		}}
	}
	out := []Finding{clock("the Prometheus", measured{at, began, d.Now()}.ahead(), false)}
	out = append(out, clusters(ctx, source, s.trust(), began)...)
	resolver := manifest.NewResolver(s.catalogue())
	for i := range s.forecasts {
		if ctx.Err() != nil {
			break
		}
		f := &s.forecasts[i]
		target, problems := resolver.Resolve(f)
		if len(problems) > 0 {
			continue // The state Invalid says so.
		}
		p := patient{
			Doctor: d, source: source, forecast: f, target: target, trust: s.trust(),
			now: d.Now().Truncate(time.Second),
		}
		out = append(out, p.examine(ctx)...)
	}
	return out
}

// catalogue confines queries as Forewarm does, by its flags.
func (s *state) catalogue() catalogue.Signals {
	c := catalogue.Signals{Label: "namespace", Trust: s.trust()}
	if label := s.args["tenant-label"]; label != "" {
		c.Label = label
	}
	if free := s.args["cluster-query-namespaces"]; free != "" {
		c.Free = strings.Split(free, ",")
	}
	return c
}

// trust is whose series presets count, by Forewarm's flags.
func (s *state) trust() signal.Trust {
	t := signal.DefaultTrust()
	t.Cluster = promexpr.Cluster(s.args["cluster"])
	if named, given := s.args["exporter-namespaces"]; given {
		t.Exporters = strings.Split(named, ",")
	}
	if interval, err := time.ParseDuration(s.args["scrape-interval"]); err == nil {
		t.ScrapeInterval = interval
	}
	return t
}

// patient is a Forecast whose history is examined.
type patient struct {
	*Doctor

	source   *prometheus.Source
	forecast *v1alpha1.Forecast
	target   refresh.Job
	trust    signal.Trust
	now      time.Time
}

func (p *patient) finding(check string, level Level, remedy, format string, args ...any) Finding {
	return Finding{
		Check: check, Level: level, Object: "Forecast " + p.forecast.Namespace + "/" + p.forecast.Name,
		Message: fmt.Sprintf(format, args...), Remedy: remedy,
	}
}

// The limits of a history that is fit to forecast from.
const (
	// minHistory is a season where the Forecast names none.
	minHistory = 24 * time.Hour
	// maxGaps is the share of samples that may be missing.
	maxGaps = 0.05
	// zerosFor is how long a demand of 0 is odd while replicas are ready; a demand that never was anything else is odd sooner.
	zerosFor, zerosFromStart = 24 * time.Hour, time.Hour
)

func (p *patient) examine(ctx context.Context) []Finding {
	t := &p.target
	to := p.now.Truncate(t.Step)
	read, err := p.source.Fetch(ctx, refresh.Query{
		Namespace: p.forecast.Namespace, Expr: t.Expr, From: to.Add(t.Step - t.History.Truncate(t.Step)), To: to,
		Step: t.Step,
	})
	switch {
	case errors.Is(err, series.ErrNoSeries):
		return []Finding{p.diagnose(ctx)}
	case err != nil:
		return []Finding{p.finding("Source", Error, "correct the query or the Prometheus", "%v", err)}
	}
	out := p.length(read)
	out = append(out, p.gaps(read)...)
	out = append(out, p.zeros(ctx, read)...)
	out = append(out, p.reports(ctx)...)
	return append(out, p.copies(ctx)...)
}

// clusters warns of a store that has several clusters, of which a query adds up what has the same name.
func clusters(ctx context.Context, source *prometheus.Source, trust signal.Trust, now time.Time) []Finding {
	if trust.Cluster != "" {
		return nil
	}
	found, err := source.LabelValues(ctx, `group by (cluster) ({__name__="`+owners+`",cluster!=""})`, "cluster", now)
	if err != nil || len(found) < 2 {
		return nil
	}
	return []Finding{
		{
			Check: "Clusters",
			Level: Warning,
			Message: "the Prometheus has data from several clusters (" + join(
				found,
			) + "), so Forewarm adds up the demand of workloads that have the same namespace and name in different " +
				"clusters",
			Remedy: "set --cluster (cluster in the chart), for example to cluster=" + found[0],
		},
	}
}

// claims is that other namespaces report pods of this one, and are not believed; nil if none does.
func (p *patient) claims(ctx context.Context, level Level) *Finding {
	from, err := p.source.LabelValues(ctx, signal.UntrustedExporters(p.target.Expr), "namespace", p.now)
	if err != nil || len(from) == 0 {
		return nil
	}
	f := p.finding(
		"Exporters",
		level,
		"if an exporter runs there, add the namespace to --exporter-namespaces (exporterNamespaces in the chart); otherwise find out "+
			"which scrape job adds these series",
		"pods in other namespaces (%s) report metrics about pods in namespace %s, but Forewarm does not trust these "+
			"pods and ignores their metrics",
		join(from),
		p.forecast.Namespace,
	)
	return &f
}

// reports warns of pods that speak for a preset's pods and are not believed, and of pods that several jobs scrape.
func (p *patient) reports(ctx context.Context) []Finding {
	if p.forecast.Spec.Signal.Preset == "" {
		return nil
	}
	var out []Finding
	if f := p.claims(ctx, Warning); f != nil {
		out = append(out, *f)
	}
	for _, s := range promexpr.Selectors(p.target.Expr) {
		if strings.HasPrefix(s.Name, "kube_") {
			continue
		}
		twice := "count by (pod) (group by (pod, job) (" + s.String() + ")) > 1"
		if pods, err := p.source.LabelValues(ctx, twice, "pod", p.now); err == nil && len(pods) > 0 {
			// Where a pod's metrics are scraped twice, all of them are.
			return append(out, p.finding(
				"Labels",
				Warning,
				"keep one of the scrape jobs; if a pod has servers at several ports, scrape all of these ports in "+
					"one job, so that Forewarm adds up their values",
				"several jobs scrape %s from the pods %s, and Forewarm uses the highest value",
				s.Name,
				join(pods),
			))
		}
	}
	return out
}

// since is a history from its first sample on.
func since(s forecast.Series) forecast.Series {
	for i, v := range s.Values {
		if !math.IsNaN(v) {
			return s.Slice(i, s.Len())
		}
	}
	return s.Slice(s.Len(), s.Len())
}

func span(s forecast.Series) time.Duration { return time.Duration(s.Len()) * s.Step }

func (p *patient) length(read forecast.Series) []Finding {
	has, least := span(since(read)), minHistory
	if len(p.target.Seasons) > 0 {
		least = p.target.Seasons[0]
	}
	least = min(least, p.target.History)
	days := func(d time.Duration) string { return fmt.Sprintf("%.3g days", d.Hours()/24) }
	if has < least-p.target.Step {
		return []Finding{
			p.finding(
				"History",
				Warning,
				"wait until there is more history, or read from a Prometheus with a longer retention",
				"the Prometheus has %s of history, but one cycle of the demand takes %s, so Forewarm is not better "+
					"than a plain HPA yet",
				days(has),
				days(least),
			),
		}
	}
	return []Finding{p.finding("History", OK, "", "has %s of history", days(has))}
}

// gaps is whether samples are missing, and the longest gap.
func (p *patient) gaps(read forecast.Series) []Finding {
	s := since(read)
	var gap, longest, end, missing int
	for i, v := range s.Values {
		if !math.IsNaN(v) {
			gap = 0
			continue
		}
		missing++
		gap++
		if gap > longest {
			longest, end = gap, i
		}
	}
	if float64(missing) <= maxGaps*float64(s.Len()) {
		return nil
	}
	const clock = "2006-01-02 15:04"
	return []Finding{
		p.finding(
			"Gaps",
			Warning,
			"check that the targets are scraped without interruption; gaps while a workload is scaled to zero do no harm",
			"%.0f%% of the samples are missing, and the longest gap is from %s to %s UTC",
			100*float64(missing)/float64(s.Len()),
			s.TimeAt(end-longest+1).UTC().Format(clock),
			s.TimeAt(end).UTC().Format(clock),
		),
	}
}

// zeros is whether the demand stays at 0 though replicas are ready: a signal that is not measured often reads 0.
func (p *patient) zeros(ctx context.Context, read forecast.Series) []Finding {
	s := since(read)
	last := -1 // The last sample that is not 0.
	for i, v := range s.Values {
		if v != 0 && !math.IsNaN(v) {
			last = i
		}
	}
	for0 := time.Duration(s.Len()-1-last) * s.Step
	if last >= 0 && for0 < zerosFor || for0 < zerosFromStart {
		return nil
	}
	ref := p.forecast.Spec.TargetRef
	expr, err := signal.ReadyReplicas(p.forecast.Namespace, signal.Target{Kind: ref.Kind, Name: ref.Name}, p.trust)
	if err != nil {
		return nil // They cannot be counted.
	}
	if ready, found := p.value(ctx, "min_over_time(("+expr+")[1h:1m])"); !found || ready < 1 {
		return nil
	}
	return []Finding{
		p.finding(
			"Zeros",
			Warning,
			"if the workload serves requests, choose another signal: forewarm presets "+p.forecast.Spec.Signal.Preset,
			"the demand has been 0 for %s although replicas of %s/%s are ready",
			for0.Round(time.Minute),
			ref.Kind,
			ref.Name,
		),
	}
}

// value is an expression's one value now; false where it has none.
func (p *patient) value(ctx context.Context, expr string) (float64, bool) {
	read, err := p.source.Fetch(ctx, refresh.Query{
		Namespace: p.forecast.Namespace, Expr: expr, From: p.now, To: p.now, Step: time.Second,
	})
	if err != nil || math.IsNaN(read.Values[0]) {
		return 0, false
	}
	return read.Values[0], true
}
