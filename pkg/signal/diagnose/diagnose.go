// Package diagnose finds out why a Forecast's query has no series, with a few more queries.
package diagnose

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// Query is a Forecast's query that has no series. Its diagnosis mentions only workloads of the Forecast's own namespace. From other
// namespaces, it learns at most the number of series or pods.
type Query struct {
	// Expr is the rendered preset, or the user's own query, confined.
	Expr      string
	Namespace string
	// Preset, Target and Trust are what Expr was rendered for; Preset is empty for a user's own query.
	Preset string
	Target signal.Target
	Trust  signal.Trust
	// TenantLabel confines a user's own query to the namespace; empty if it may read all namespaces.
	TenantLabel string
}

// Ask evaluates PromQL now, and returns the value of each series by one of its labels.
type Ask = func(expr, label string) (map[string]float64, error)

// Cause is why a query has no series.
type Cause struct {
	// Check is what has to be corrected: one of the constants below.
	Check   string
	Message string
	// Remedy is what to do.
	Remedy string
}

// What must be corrected: kube-state-metrics, the labels of series, what is scraped or queried, or which exporters are trusted.
const (
	CheckOwners    = "KubeStateMetrics"
	CheckLabels    = "Labels"
	CheckSource    = "Source"
	CheckExporters = "Exporters"
)

// String is the message and the remedy.
func (c Cause) String() string {
	if strings.HasSuffix(c.Message, "?") {
		return c.Message + " " + strings.ToUpper(c.Remedy[:1]) + c.Remedy[1:]
	}
	return c.Message + ": " + c.Remedy
}

// Explain is the text of the cause.
func (q Query) Explain(ask Ask) (string, error) {
	c, err := q.Find(ask)
	if err != nil {
		return "", err
	}
	return c.String(), nil
}

// Find finds the cause with a few queries. It returns the error of ask.
func (q Query) Find(ask Ask) (Cause, error) {
	if q.Preset == "" {
		return q.findInQuery(ask)
	}
	f := finder{Query: q, ask: ask}
	// The pods that report to dynamo are the pods of the frontend.
	if front := q.Target.Frontend(); q.server() == "dynamo" && q.Target.Name != front {
		f.Target = signal.Target{Kind: "Deployment", Name: front}
	}
	f.ownedAs = ownedAs(f.Target.Kind)
	f.reports, f.owners = f.selectors()
	found, err := f.reporting()
	switch {
	case err != nil:
		return Cause{}, err
	case found.pods == 0:
		return f.nothingReports()
	case found.own == 0:
		return f.othersReport(found)
	}
	return f.ownReport(found)
}

// finder finds the cause if a preset has no samples.
type finder struct {
	Query

	ask Ask
	// reports and owners are the selectors of the preset.
	reports []*parser.VectorSelector
	owners  map[string][]*parser.VectorSelector
	// ownedAs has the workloads to which the pods of such a target belong.
	ownedAs map[string][]*regexp.Regexp
}

// number returns the value of an expression with at most one series; 0 if there is none.
func (f finder) number(expr string) (float64, error) {
	got, err := f.ask(expr, "")
	return got[""], err
}

// claimed returns a cause if only pods of other namespaces report the pods of this namespace. Such reports do not count.
func (f finder) claimed() (Cause, error) {
	claims := signal.UntrustedExporters(f.Expr)
	if claims == "" {
		return Cause{}, nil
	}
	n, err := f.number("count(" + claims + ")")
	if err != nil || n == 0 {
		return Cause{}, err
	}
	text := fmt.Sprintf(
		"pods in %s report metrics of pods in namespace %s, but Forewarm ignores these metrics, because these pods "+
			"are not trusted exporters",
		count(n, "other namespace"),
		f.Namespace,
	)
	return Cause{
		CheckExporters,
		text,
		"if they are exporters, ask the operator to add their namespaces to --exporter-namespaces (forewarm doctor lists them)",
	}, nil
}

// withoutOwners returns a cause if kube-state-metrics does not report the owners of the namespace's pods, or of their ReplicaSets.
func (f finder) withoutOwners(all map[string]float64) (Cause, error) {
	if len(f.owners[signal.PodOwner]) == 0 {
		return Cause{}, nil
	}
	if len(all) == 0 {
		if c, err := f.claimed(); err != nil || c.Check != "" {
			return c, err
		}
		anywhere := keepMatchers(f.owners[signal.PodOwner][0], f.clusterLabel())
		n, err := f.number("count(" + anywhere.String() + ")")
		if err != nil {
			return Cause{}, err
		}
		const none = "kube-state-metrics reports no owners (" + signal.PodOwner + ")"
		if n == 0 {
			return Cause{
				CheckOwners,
				none,
				"install kube-state-metrics, or scrape it, because presets use its metrics to find the pods of a workload",
			}, nil
		}
		return Cause{
			CheckOwners,
			fmt.Sprintf("%s of pods in namespace %s, only of pods in other namespaces", none, f.Namespace),
			"check the namespace of the Forecast; if it is right, make kube-state-metrics report this namespace (--namespaces), and set " +
				"honorLabels: true in its scrape",
		}, nil
	}
	inSet := func(workload string) bool { return strings.HasPrefix(workload, "ReplicaSet/") }
	if f.Target.Kind == "ReplicaSet" || !slices.ContainsFunc(slices.Collect(maps.Keys(all)), inSet) {
		return Cause{}, nil
	}
	var sets []string
	for _, s := range f.owners[signal.ReplicaSetOwner] {
		sets = append(sets, s.String())
	}
	n, err := f.number("count(" + strings.Join(sets, " or ") + ")")
	if err != nil || n > 0 {
		return Cause{}, err
	}
	return Cause{
		CheckOwners,
		"kube-state-metrics reports no owners of ReplicaSets (" + signal.ReplicaSetOwner +
			"), so Forewarm cannot find the pods of a Deployment",
		"make kube-state-metrics collect replicasets (--resources), and check that the scrape does not drop the " +
			"metric",
	}, nil
}

// names returns the metrics of a preset, each in its first spelling.
func (q Query) names() (names []string) {
	expr := q.Expr
	if p, err := signal.Lookup(q.Preset); err == nil {
		if plain, bad := p.Undivided().Render(q.Namespace, q.Target, q.Trust); bad == nil {
			expr = plain
		}
	}
	for _, s := range promexpr.Selectors(expr) {
		if name := promexpr.Names(s)[0]; isReported(s) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// isReported reports whether a selector reads metrics that pods report, and not owners or nodes.
func isReported(s *parser.VectorSelector) bool {
	return s.Name != signal.PodOwner && s.Name != signal.ReplicaSetOwner && matcher(s, "exported_namespace") != nil
}

// metrics describes the metrics of a preset: "vllm metrics (vllm:num_requests_running)".
func (q Query) metrics() string {
	const most = 3
	names := q.names()
	text := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		text += ", …"
	}
	return q.server() + " metrics (" + text + ")"
}

// nothingReports returns the cause if no pod of the namespace reports the preset's metrics.
func (f finder) nothingReports() (Cause, error) {
	if c, err := f.claimed(); err != nil || c.Check != "" {
		return c, err
	}
	if c, err := f.withoutLabels(); err != nil || c.Check != "" {
		return c, err
	}
	c := Cause{Check: CheckSource, Message: "no pod in namespace " + f.Namespace + " reports " + f.metrics()}
	preset, n, err := f.otherServer()
	if err != nil {
		return c, err
	}
	if server, _, found := strings.Cut(preset, "/"); found {
		c.Message += fmt.Sprintf(", but %s %s metrics", pods(n, "report"), server)
		c.Remedy = "use the preset " + preset + ", or scrape the server that " + f.Preset + " is for"
		return c, nil
	}
	all, err := f.known()
	if err != nil {
		return c, err
	}
	c.Remedy = "check that the server's metrics are scraped, for example by a PodMonitor, and that the preset is for your server"
	missing, err := f.withoutOwners(all)
	if err != nil {
		return c, err
	}
	own, near := f.ownPods(all), f.similar(all, nil)
	switch {
	case missing.Check != "":
		c.Message += ", and " + missing.Message
		c.Remedy = missing.Remedy + "; and " + c.Remedy
	case own > 0:
		c.Message += fmt.Sprintf(", although %s has %s", f.target(), count(own, "pod"))
	case near != "":
		c.Message += fmt.Sprintf(", and no pod belongs to %s. Did you mean %s?", f.target(), near)
		c.Remedy = "check spec.targetRef; and " + c.Remedy
	default:
		c.Message += ", and no pod belongs to " + f.target()
		c.Remedy = "check spec.targetRef and the namespace; and " + c.Remedy
	}
	return c, nil
}

// otherServer returns the preset of the server whose metrics most pods of the target, or of the namespace, report instead. It also returns
// the number of these pods. preset is empty if there is none.
func (f finder) otherServer() (preset string, pods float64, err error) {
	reports, ofMetric := f.ofOtherServers()
	if len(reports) == 0 {
		return "", 0, nil
	}
	found, err := f.ask(f.rows(reports), "row")
	bestOwn := false
	for _, row := range slices.Sorted(maps.Keys(found)) {
		metric, workload, _ := strings.Cut(row, " ")
		if ofMetric[metric] == "" {
			continue
		}
		switch isOwn := f.isOwn(workload); {
		case isOwn && !bestOwn, isOwn == bestOwn && found[row] > pods:
			preset, pods, bestOwn = ofMetric[metric], found[row], isOwn
		}
	}
	return preset, pods, err
}

// ofOtherServers returns the metrics that pods of other servers report, and the preset of each metric. It returns none for a preset of an
// exporter or a gateway, because such a preset is chosen deliberately.
func (q Query) ofOtherServers() (reports []*parser.VectorSelector, ofMetric map[string]string) {
	// Only servers of requests count, whose pods report their own metrics.
	servers := slices.DeleteFunc(signal.Sources(), func(s signal.Source) bool {
		return slices.Contains([]string{"dcgm", "nvml", "gateway", "dynamo"}, s.Name)
	})
	if !slices.ContainsFunc(servers, func(s signal.Source) bool { return s.Name == q.server() }) {
		return nil, nil
	}
	ofMetric = map[string]string{}
	_, demand, _ := strings.Cut(q.Preset, "/")
	for _, source := range servers {
		if source.Name == q.server() {
			continue
		}
		p := source.Presets[0]
		if same, err := signal.Lookup(source.Name + "/" + demand); err == nil {
			p = same
		}
		expr, err := p.Render(q.Namespace, q.Target, q.Trust)
		if err != nil {
			continue
		}
		other := q
		other.Expr, other.Preset = expr, p.Name
		own, _ := other.selectors()
		const most = 2 // A few metrics identify a server, and the length of queries is limited.
		names := other.names()
		for _, s := range ofNames(own, names[:min(most, len(names))]) {
			ofMetric[s.Name] = p.Name
			reports = append(reports, keepMatchers(s, "namespace", "exported_namespace", q.clusterLabel()))
		}
	}
	return reports, ofMetric
}

// othersReport returns the cause if pods of the namespace report, but none of them belongs to the target.
func (f finder) othersReport(found reporting) (Cause, error) {
	all, err := f.known()
	if err != nil {
		return Cause{}, err
	}
	reported := fmt.Sprintf("%s in namespace %s %s %s metrics",
		count(found.pods, "pod"), f.Namespace, verb(found.pods, "report"), f.server())
	if c, err := f.withoutOwners(all); err != nil || c.Check != "" {
		c.Message = reported + ", but " + c.Message
		return c, err
	}
	c := Cause{
		CheckSource,
		reported + ", but none of them belongs to " + f.target(),
		"check spec.targetRef, and that its pods run and are scraped",
	}
	own, near := f.ownPods(all), f.similar(all, found.workloads)
	gateway := f.server() == "gateway" && strings.Contains(f.Expr, "* on (picker)")
	switch {
	case gateway && own > 0:
		c.Message = reported + ", but none of them routes to pods of " + f.target()
		c.Remedy = "check that the InferencePool selects these pods, or give the InferencePool the workload's name"
	case own > 0:
		c.Message += ", which has " + count(own, "other pod")
		c.Remedy = "check that they are scraped, and that they run this server"
	case found.unknown > 0 && found.unknown == found.pods:
		c.Check = CheckOwners
		c.Message = reported + ", but kube-state-metrics reports no owners of them"
		c.Remedy = checkShards
	case near != "":
		c.Message += ". Did you mean " + near + "?"
	case len(found.workloads) > 0:
		c.Message += "; they belong to " + listWorkloads(found.workloads)
	}
	return c, nil
}

const checkShards = "check that every shard of kube-state-metrics runs, keeps up with the cluster and is scraped"

// ownReport returns the cause if pods of the target report.
func (f finder) ownReport(found reporting) (Cause, error) {
	own := fmt.Sprintf("%s of %s %s", count(found.own, "pod"), f.target(), verb(found.own, "report"))
	root, err := parser.NewParser(parser.Options{}).ParseExpr(f.Expr)
	if err != nil {
		return Cause{}, err
	}
	if missing := missingMetrics(root, found.metrics); len(missing) > 0 {
		reported := slices.Sorted(maps.Keys(found.metrics))
		return Cause{
			CheckSource,
			fmt.Sprintf("%s %s, but not %s, which the preset %s also needs", own, strings.Join(reported, ", "),
				strings.Join(missing, ", "), f.Preset),
			"check that the server's version reports it, and that the scrape does not drop it",
		}, nil
	}
	if unknown := signal.UnknownOwner(f.Expr); unknown != "" {
		n, err := f.number(unknown)
		if err != nil {
			return Cause{}, err
		}
		if n > 0 {
			text := fmt.Sprintf("%s %s metrics, but kube-state-metrics reports no owner of %s that %s them, too",
				own, f.server(), count(n, "other pod"), verb(n, "report"))
			return Cause{CheckOwners, text, checkShards}, nil
		}
	}
	return Cause{
		CheckSource,
		fmt.Sprintf("%s %s metrics, but the preset %s has no value yet", own, f.server(), f.Preset),
		"a rate needs several samples; if this lasts, check that each pod reports all metrics of the preset",
	}, nil
}

// missingMetrics returns the metrics without which an expression has no value. Of alternatives, it returns the first.
func missingMetrics(node parser.Expr, reported map[string]float64) (missing []string) {
	switch n := node.(type) {
	case *parser.VectorSelector:
		names := promexpr.Names(n)
		if isReported(n) && !slices.ContainsFunc(names, func(name string) bool { return reported[name] > 0 }) {
			missing = names[:1]
		}
		return missing
	case *parser.BinaryExpr:
		missing = missingOperands(n, reported)
	default:
		for child := range parser.ChildrenIter(node) {
			if expr, ok := child.(parser.Expr); ok {
				missing = append(missing, missingMetrics(expr, reported)...)
			}
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// missingOperands returns the metrics without which an operation has no value.
func missingOperands(n *parser.BinaryExpr, reported map[string]float64) []string {
	left := missingMetrics(n.LHS, reported)
	if n.Op == parser.LUNLESS || n.Op == parser.LOR && len(left) == 0 {
		return left
	}
	switch right := missingMetrics(n.RHS, reported); {
	case n.Op != parser.LOR:
		return slices.Concat(left, right)
	case len(right) == 0:
		return nil
	}
	return left
}
