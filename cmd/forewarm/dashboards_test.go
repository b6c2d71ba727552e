package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/hack/dashboardtest"
)

// TestDashboardsAskForWhatIsServed runs every query of every panel and variable, over what a server and a leader's
// collectors serve on /metrics: each has an answer, and all of its values are finite.
func TestDashboardsAskForWhatIsServed(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of queries of Prometheus' engine")
	}
	all := loadDashboards(t)
	first, last := scrapeTwice(t)
	store, now := storeScrapes(t, first, last)
	for _, d := range all {
		t.Run(d.UID, func(t *testing.T) {
			on := shown{d, store, chooseFirst(t, d, store, now), now}
			queries := 0
			for i := range d.Panels {
				for _, query := range d.Panels[i].Targets {
					queries++
					if wrong := on.wrong(t.Context(), query.Expr, query.LegendFormat); wrong != "" {
						t.Errorf("panel %q: %s", d.Panels[i].Title, wrong)
					}
				}
			}
			if queries < 15 {
				t.Errorf("%d queries: were they all read?", queries)
			}
		})
	}
}

// TestDashboardsOfOtherNamesFail shows that the test above finds a name that is not served.
func TestDashboardsOfOtherNamesFail(t *testing.T) {
	store, now := storeScrapes(t, sample("up 1\n"), sample("up 1\n"))
	on := shown{&dashboardtest.Dashboard{}, store, dashboardtest.Choice{}, now}
	for _, expr := range []string{
		"forewarm_skill", `up{job="other"}`, "up / 0", "sum(up", "rate(forewarm_steps_total[5m])", "$other", "sum(up) by (pool)",
	} {
		if on.wrong(t.Context(), expr, "") == "" {
			t.Errorf("%s passes", expr)
		}
	}
	if on.wrong(t.Context(), "up", "{{pool}}") == "" {
		t.Error("a legend of a label that is not there passes")
	}
	if wrong := on.wrong(t.Context(), "sum(up) by (pod)", "{{pod}}"); wrong != "" {
		t.Errorf("up: %s", wrong)
	}
}

// shown is a dashboard over a store, at a time.
type shown struct {
	*dashboardtest.Dashboard
	store  *dashboardtest.Store
	choice dashboardtest.Choice
	now    time.Time
}

var placeholder = regexp.MustCompile(`\{\{(\w+)\}\}`)

// wrong is what is wrong with the answer to a query, now and over an hour; nothing where it has finite values, and every
// label by which it is grouped and that its legend names.
func (d shown) wrong(ctx context.Context, expr, legend string) string {
	query, err := d.Interpolate(expr, d.choice, dashboardtest.EscapeQuotes)
	if err != nil {
		return err.Error()
	}
	if missing := d.ungrouped(ctx, query); missing != "" {
		return missing
	}
	vector, err := d.store.Instant(ctx, query, d.now)
	switch {
	case err != nil:
		return err.Error()
	case len(vector) == 0:
		return "no series: " + query
	}
	for _, v := range vector {
		if math.IsNaN(v.F) || math.IsInf(v.F, 0) {
			return fmt.Sprintf("%s is %g: %s", v.Metric, v.F, query)
		}
		for _, found := range placeholder.FindAllStringSubmatch(legend, -1) {
			if v.Metric.Get(found[1]) == "" {
				return fmt.Sprintf("%s has no label for the legend %s: %s", v.Metric, legend, query)
			}
		}
	}
	const points = 13
	series, err := d.store.Range(ctx, query, d.now.Add(-time.Hour), 5*time.Minute, points)
	switch {
	case err != nil:
		return err.Error()
	case len(series) == 0 || math.IsNaN(series[0].Values[points-1]):
		return "no series over an hour: " + query
	}
	return ""
}

// ungrouped names a label by which series are aggregated and which they do not have.
func (d shown) ungrouped(ctx context.Context, query string) (wrong string) {
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		return err.Error()
	}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		by, ok := node.(*parser.AggregateExpr)
		if !ok || by.Without || wrong != "" {
			return nil
		}
		vector, err := d.store.Instant(ctx, by.Expr.String(), d.now)
		if err != nil {
			wrong = err.Error()
		}
		for _, v := range vector {
			for _, label := range by.Grouping {
				if v.Metric.Get(label) == "" {
					wrong = fmt.Sprintf("%s has no label %s: %s", v.Metric, label, by)
				}
			}
		}
		return nil
	})
	return wrong
}

// chooseFirst chooses every value of variables that can have all, and the first of the others, as Grafana does at first.
func chooseFirst(t *testing.T, d *dashboardtest.Dashboard, s *dashboardtest.Store, now time.Time) dashboardtest.Choice {
	t.Helper()
	choice := dashboardtest.Choice{Values: map[string][]string{}, Range: 24 * time.Hour, RateInterval: 2 * time.Minute}
	for i := range d.Templating.List {
		v := &d.Templating.List[i]
		if v.Type == "datasource" {
			continue
		}
		options, err := d.Options(t.Context(), v, s, choice, now)
		if err != nil || len(options) == 0 {
			t.Fatalf("variable %s has the values %q (%v)", v.Name, options, err)
		}
		choice.Values[v.Name] = options[:1]
		if v.IncludeAll {
			choice.Values[v.Name] = []string{dashboardtest.All}
		}
	}
	return choice
}

// storeScrapes stores six hours and a quarter of scrapes, each half minute, of two replicas. Between the two scrapes
// that were made, counters grow evenly.
func storeScrapes(t *testing.T, first, last []*dto.MetricFamily) (*dashboardtest.Store, time.Time) {
	t.Helper()
	store, err := dashboardtest.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	before, after := samplesOf(t, first), samplesOf(t, last)
	counts := map[string]bool{}
	for _, family := range last {
		counts[family.GetName()] = family.GetType() == dto.MetricType_COUNTER ||
			family.GetType() == dto.MetricType_HISTOGRAM
	}
	suffix := regexp.MustCompile(`_(bucket|sum|count)$`)
	const scrapes = 750
	start := time.Now().Truncate(time.Minute).Add(-scrapes * 30 * time.Second)
	for i := range scrapes + 1 {
		now := make(model.Vector, 0, len(after))
		for key, s := range after {
			copied := *s
			name := string(s.Metric[model.MetricNameLabel])
			if counts[name] || counts[suffix.ReplaceAllString(name, "")] {
				from := model.SampleValue(0)
				if before[key] != nil {
					from = before[key].Value
				}
				copied.Value = from + (s.Value-from)*model.SampleValue(i)/scrapes
			}
			now = append(now, &copied)
		}
		for _, pod := range []string{"forewarm-0", "forewarm-1"} {
			target := dashboardtest.Target{
				"job":       "forewarm",
				"namespace": "forewarm-system",
				"pod":       pod,
				"instance":  pod + ":6443",
				"service":   "forewarm",
			}
			if err := store.Append(t.Context(), start.Add(time.Duration(i)*30*time.Second), target, now); err != nil {
				t.Fatal(err)
			}
		}
	}
	return store, start.Add(scrapes * 30 * time.Second)
}

// samplesOf are the samples by their labels.
func samplesOf(t *testing.T, families []*dto.MetricFamily) map[string]*model.Sample {
	t.Helper()
	all, err := dashboardtest.Samples(families)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]*model.Sample, len(all))
	for _, s := range all {
		out[s.Metric.String()] = s
	}
	return out
}

func loadDashboards(t *testing.T) []*dashboardtest.Dashboard {
	t.Helper()
	all, err := dashboardtest.Load(apiservertest.Root(t))
	if err != nil || len(all) != 3 {
		t.Fatalf("%d dashboards, want three (%v)", len(all), err)
	}
	return all
}

// TestDashboardsFollowTheConventions: those of kubernetes-mixin, and a panel links to the runbook of each alert.
func TestDashboardsFollowTheConventions(t *testing.T) {
	text, err := os.ReadFile(apiservertest.Root(t) + "/docs/runbooks.md")
	if err != nil {
		t.Fatal(err)
	}
	unlinked := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^## (\w+)$`).FindAllStringSubmatch(string(text), -1) {
		unlinked[strings.ToLower(found[1])] = true
	}
	seen := map[string]bool{}
	for _, d := range loadDashboards(t) {
		if seen[d.UID] || d.UID == "" || d.SchemaVersion < 39 || !slices.Equal(d.Tags, []string{"forewarm"}) ||
			d.Description == "" {
			t.Errorf("%s: uid %q, schema %d, tags %q", d.Title, d.UID, d.SchemaVersion, d.Tags)
		}
		seen[d.UID] = true
		if v := d.Templating.List[0]; v.Name != "datasource" || v.Type != "datasource" || v.Query != "prometheus" {
			t.Errorf("%s: the first variable is %+v, want the data source", d.Title, v)
		}
		ids := map[int]bool{}
		for _, p := range d.Panels {
			if ids[p.ID] ||
				p.Type != "row" && (p.Description == "" || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0) {
				t.Errorf("%s: panel %d %q has a second ID, or no description, unit or query", d.Title, p.ID, p.Title)
			}
			ids[p.ID] = true
			for _, q := range p.Targets {
				if q.Datasource.UID != "${datasource}" || p.Type == "timeseries" && q.LegendFormat == "" {
					t.Errorf("%s: %q: query %s has the data source %+v and the legend %q", d.Title, p.Title, q.RefID,
						q.Datasource, q.LegendFormat)
				}
			}
			for _, link := range p.Links {
				_, anchor, _ := strings.Cut(link.URL, "docs/runbooks.md#")
				if _, ok := unlinked[anchor]; !ok {
					t.Errorf("%s: %q links to %s, which is no runbook", d.Title, p.Title, link.URL)
				}
				unlinked[anchor] = false
			}
		}
	}
	maps.DeleteFunc(unlinked, func(_ string, still bool) bool { return !still })
	if len(unlinked) > 0 {
		t.Errorf("no panel links to the runbooks %v", slices.Sorted(maps.Keys(unlinked)))
	}
}

// TestDashboardsWithOddValues: a value selects itself alone, whatever is in it.
func TestDashboardsWithOddValues(t *testing.T) {
	d := loadDashboards(t)[2]
	const expr = `count by (forecast) (odd{forecast=~"$forecast"})`
	values := []string{`a"b`, `a\b`, `a'b`, `a.b`, `axb`, `a|b`, `a) or vector(1`, `"} or up{a="`, `$namespace`, `.*`}
	var page strings.Builder
	for _, v := range values {
		fmt.Fprintf(&page, "odd{forecast=\"%s\"} 1\n", strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v))
	}
	store, now := storeScrapes(t, sample(page.String()), sample(page.String()))
	for _, v := range append([]string{""}, values...) {
		for _, other := range values {
			chosen := slices.Compact([]string{other, v})
			if v == "" {
				chosen = []string{other}
			}
			query, err := d.Interpolate(expr, dashboardtest.Choice{Values: map[string][]string{"forecast": chosen}},
				dashboardtest.EscapeQuotes)
			if err != nil {
				t.Fatal(err)
			}
			vector, err := store.Instant(t.Context(), query, now)
			if err != nil {
				t.Errorf("%q: %v", chosen, err)
				continue
			}
			got := map[string]bool{}
			for _, s := range vector {
				got[s.Metric.Get("forecast")] = true
			}
			if len(got) != len(chosen) || !got[chosen[0]] || !got[chosen[len(chosen)-1]] {
				t.Errorf("%q selects %v by %s", chosen, slices.Sorted(maps.Keys(got)), query)
			}
		}
	}
	// An older Grafana does not escape quotes. No name in a cluster has one; where an address has it, the panel shows an
	// error.
	query, err := d.Interpolate(expr, dashboardtest.Choice{Values: map[string][]string{"forecast": {`a"b`}}},
		dashboardtest.EscapeClassic)
	if err != nil {
		t.Fatal(err)
	}
	if vector, err := store.Instant(t.Context(), query, now); err == nil {
		t.Errorf("%s selects %v, want an error", query, vector)
	}
}
