// Package diagnose finds out why a Forecast's query has no series, with a few more queries.
package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// Query is a Forecast's query that has no series. Its diagnosis names only workloads of the Forecast's own namespace: of what others
// report it learns at most how much there is.
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

// What has to be corrected: kube-state-metrics, the labels of series, what is scraped or asked for, or the exporters that count.
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

// Find finds the cause with a few queries. The error is that of ask.
func (q Query) Find(ask Ask) (Cause, error) {
	if q.Preset == "" {
		return q.findInQuery(ask)
	}
	// The pods that report to dynamo are those of the frontend.
	if front := q.Target.Frontend(); q.server() == "dynamo" && q.Target.Name != front {
		of := q
		of.Target = signal.Target{Kind: "Deployment", Name: front}
		return of.Find(ask)
	}
	reports, owners := q.selectors()
	found, err := q.reporting(ask, reports, owners)
	switch {
	case err != nil:
		return Cause{}, err
	case found.pods == 0:
		return q.nothingReports(ask, reports, owners)
	case found.own == 0:
		return q.othersReport(ask, found, owners)
	}
	return q.ownReport(ask, found)
}

// claimed is the cause if only pods of other namespaces report this one's, and do not count.
func (q Query) claimed(ask Ask) (c Cause, ok bool, err error) {
	claims := signal.Claims(q.Expr)
	if claims == "" {
		return c, false, nil
	}
	n, err := number(ask, "count("+claims+")")
	return Cause{
		CheckExporters,
		fmt.Sprintf(
			"pods of %s report pods of namespace %s, and are not named as exporters",
			count(n, "other namespace"),
			q.Namespace,
		),
		"if they are exporters, the operator adds their namespaces to --exporter-namespaces (forewarm doctor lists them)",
	}, n > 0, err
}

// number is the value of an expression with at most one series; 0 for none.
func number(ask Ask, expr string) (float64, error) {
	got, err := ask(expr, "")
	return got[""], err
}

// withoutOwners is the cause if kube-state-metrics reports no owners of the namespace's pods, or not those of their ReplicaSets.
func (q Query) withoutOwners(
	ask Ask, all map[string]float64, owners map[string][]*parser.VectorSelector,
) (c Cause, ok bool, err error) {
	if len(owners[signal.PodOwner]) == 0 {
		return c, false, nil
	}
	anywhere := func(metric string) (float64, error) {
		return number(ask, "count("+keepMatchers(owners[metric][0], q.clusterLabel()).String()+")")
	}
	if len(all) == 0 {
		if c, ok, err = q.claimed(ask); err != nil || ok {
			return c, ok, err
		}
		var n float64
		switch n, err = anywhere(signal.PodOwner); {
		case err != nil:
			return c, false, err
		case n == 0:
			return Cause{
				CheckOwners, "kube-state-metrics reports no owners (" + signal.PodOwner + ")",
				"install kube-state-metrics, or scrape it: presets find the pods of a workload by its metrics",
			}, true, nil
		}
		return Cause{
			CheckOwners,
			fmt.Sprintf(
				"kube-state-metrics reports no owners (%s) of pods in namespace %s, only of pods in other namespaces",
				signal.PodOwner,
				q.Namespace,
			),
			"check the namespace of the Forecast; if it is right, let kube-state-metrics report it (--namespaces) and its scrape keep the " +
				"labels (honorLabels: true)",
		}, true, nil
	}
	if q.Target.Kind == "ReplicaSet" || !slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(w string) bool {
		return strings.HasPrefix(w, "ReplicaSet/")
	}) {
		return c, false, nil
	}
	var sets []string
	for _, s := range owners[signal.ReplicaSetOwner] {
		sets = append(sets, s.String())
	}
	n, err := number(ask, "count("+strings.Join(sets, " or ")+")")
	if err != nil || n > 0 {
		return c, false, err
	}
	return Cause{
		CheckOwners,
		fmt.Sprintf(
			"kube-state-metrics reports no owners of ReplicaSets (%s), so the pods of a Deployment are not found",
			signal.ReplicaSetOwner,
		),
		"let it collect replicasets (--resources), and do not drop the metric",
	}, true, nil
}

// names are the metrics of a preset, each in its first spelling.
func (q Query) names() (names []string) {
	expr := q.Expr
	if p, err := signal.Lookup(q.Preset); err == nil {
		if plain, bad := p.Undivided().Render(q.Namespace, q.Target, q.Trust); bad == nil {
			expr = plain
		}
	}
	for _, s := range promexpr.Selectors(expr) {
		name := promexpr.Names(s)[0]
		own := matcher(s, "exported_namespace") == nil || name == signal.StartTime || name == signal.PodOwner ||
			name == signal.ReplicaSetOwner
		if !own && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// metrics are the metrics of a preset: "vllm metrics (vllm:num_requests_running)".
func (q Query) metrics() string {
	const most = 3
	names := q.names()
	text := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		text += ", …"
	}
	return q.server() + " metrics (" + text + ")"
}

// nothingReports is the cause where no pod of the namespace reports the preset's metrics.
func (q Query) nothingReports(
	ask Ask, reports []*parser.VectorSelector, owners map[string][]*parser.VectorSelector,
) (Cause, error) {
	if c, ok, err := q.claimed(ask); err != nil || ok {
		return c, err
	}
	if c, ok, err := q.withoutLabels(ask, reports); err != nil || ok {
		return c, err
	}
	c := Cause{
		Check:   CheckSource,
		Message: fmt.Sprintf("no pod in namespace %s reports %s", q.Namespace, q.metrics()),
	}
	others, err := q.otherServers(ask, owners)
	if err != nil {
		return c, err
	}
	if others.server != "" {
		c.Message += fmt.Sprintf(", but %s %s metrics", pods(others.pods, "report"), others.server)
		c.Remedy = "use the preset " + others.preset + ", or scrape the server that " + q.Preset + " is for"
		return c, nil
	}
	all, err := known(ask, owners)
	if err != nil {
		return c, err
	}
	c.Remedy = "check that the server's metrics are scraped, for example by a PodMonitor, and that the preset is that of your server"
	missing, ok, err := q.withoutOwners(ask, all, owners)
	if err != nil {
		return c, err
	}
	if ok {
		c.Message += ", and " + missing.Message
		c.Remedy = missing.Remedy + "; and " + c.Remedy
		return c, nil
	}
	own, ownPods := 0.0, q.ownPods()
	for workload, n := range all {
		if ownPods(workload) {
			own += n
		}
	}
	switch near := q.similar(all, nil); {
	case own > 0:
		c.Message += fmt.Sprintf("; %s has %s", q.target(), count(own, "pod"))
	case near != "":
		c.Message += fmt.Sprintf(", and no pod belongs to %s. Did you mean %s?", q.target(), near)
		c.Remedy = "check spec.targetRef; and " + c.Remedy
	default:
		c.Message += ", and no pod belongs to " + q.target()
		c.Remedy = "check spec.targetRef and the namespace; and " + c.Remedy
	}
	return c, nil
}

// otherServer is a server whose metrics pods report instead.
type otherServer struct {
	server, preset string
	pods           float64
}

// otherServers is the server whose metrics most pods of the target report, or of the namespace; empty without one.
func (q Query) otherServers(ask Ask, owners map[string][]*parser.VectorSelector) (best otherServer, err error) {
	reports, ofMetric := q.ofOtherServers()
	if len(reports) == 0 {
		return best, nil
	}
	found, err := ask(rows(reports, owners), "row")
	own := q.ownPods()
	bestOwn := false
	for _, row := range slices.Sorted(maps.Keys(found)) {
		metric, workload, _ := strings.Cut(row, " ")
		p, known := ofMetric[metric]
		if !known {
			continue
		}
		server, _, _ := strings.Cut(p.Name, "/")
		of := otherServer{server, p.Name, found[row]}
		switch isOwn := own(workload); {
		case isOwn && !bestOwn, isOwn == bestOwn && of.pods > best.pods:
			best, bestOwn = of, isOwn
		}
	}
	return best, err
}

// ofOtherServers is what pods of other servers report, and the preset of each metric; none for a preset of an exporter or a gateway, which
// is chosen for a reason.
func (q Query) ofOtherServers() (reports []*parser.VectorSelector, ofMetric map[string]signal.Preset) {
	if !slices.ContainsFunc(signal.Sources(), func(s signal.Source) bool { return s.Name == q.server() && serves(s) }) {
		return nil, nil
	}
	ofMetric = map[string]signal.Preset{}
	_, demand, _ := strings.Cut(q.Preset, "/")
	for _, source := range signal.Sources() {
		if source.Name == q.server() || !serves(source) {
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
		other := Query{Expr: expr, Namespace: q.Namespace, Preset: p.Name, Target: q.Target, Trust: q.Trust}
		own, _ := other.selectors()
		const most = 2 // Servers are known by few metrics, and queries have a limit.
		names := other.names()
		for _, s := range ofNames(own, names[:min(most, len(names))]) {
			ofMetric[s.Name] = p
			reports = append(reports, keepMatchers(s, "namespace", "exported_namespace", q.clusterLabel()))
		}
	}
	return reports, ofMetric
}

// serves reports whether a source is a server of requests: its own pods report its metrics.
func serves(s signal.Source) bool {
	return !slices.Contains([]string{"dcgm", "nvml", "gateway", "dynamo"}, s.Name)
}

// othersReport is the cause where pods of the namespace report, and none of them is the target's.
func (q Query) othersReport(ask Ask, found reporting, owners map[string][]*parser.VectorSelector) (Cause, error) {
	all, err := known(ask, owners)
	if err != nil {
		return Cause{}, err
	}
	reported := fmt.Sprintf(
		"%s in namespace %s %s %s metrics",
		count(found.pods, "pod"),
		q.Namespace,
		verb(found.pods, "report"),
		q.server(),
	)
	if c, ok, err := q.withoutOwners(ask, all, owners); err != nil || ok {
		c.Message = reported + ", but " + c.Message
		return c, err
	}
	c := Cause{
		CheckSource,
		reported + "; none belongs to " + q.target(),
		"check spec.targetRef, and that its pods run and are scraped",
	}
	own, ownPods := 0.0, q.ownPods()
	for workload, n := range all {
		if ownPods(workload) {
			own += n
		}
	}
	gateway := q.server() == "gateway" && strings.Contains(q.Expr, "* on (picker)")
	switch near := q.similar(all, found.workloads); {
	case gateway && own > 0:
		c.Message = reported + "; none of them routes to pods of " + q.target()
		c.Remedy = "check that the InferencePool selects them, or give it the workload's name"
	case own > 0:
		c.Message += ", which has " + count(own, "other pod")
		c.Remedy = "check that they are scraped, and that they run this server"
	case found.unknown > 0 && found.unknown == found.pods:
		c.Check = CheckOwners
		c.Message = reported + ", but kube-state-metrics reports no owners of them"
		c.Remedy = "check that kube-state-metrics, every shard of it, runs, follows the cluster and is scraped"
	case near != "":
		c.Message += ". Did you mean " + near + "?"
	case len(found.workloads) > 0:
		c.Message += ", but to " + listWorkloads(found.workloads)
	}
	return c, nil
}

// ownReport is the cause where pods of the target report.
func (q Query) ownReport(ask Ask, found reporting) (Cause, error) {
	own := fmt.Sprintf("%s of %s %s", count(found.own, "pod"), q.target(), verb(found.own, "report"))
	root, err := parser.NewParser(parser.Options{}).ParseExpr(q.Expr)
	if err != nil {
		return Cause{}, err
	}
	missing := missingMetrics(root, found.metrics)
	if len(missing) > 0 {
		reported := slices.Sorted(maps.Keys(found.metrics))
		return Cause{
			CheckSource,
			fmt.Sprintf("%s %s, but not %s, and the preset %s needs them together", own, strings.Join(reported, ", "),
				strings.Join(missing, ", "), q.Preset),
			"check that the server's version reports it, and that the scrape does not drop it",
		}, nil
	}
	if unknown := signal.Unowned(q.Expr); unknown != "" {
		n, err := number(ask, unknown)
		if err != nil {
			return Cause{}, err
		}
		if n > 0 {
			return Cause{
				CheckOwners,
				fmt.Sprintf(
					"%s %s metrics, but kube-state-metrics reports no owner of %s that %s, too",
					own,
					q.server(),
					count(n, "other pod"),
					verb(n, "report")+" them",
				),
				"check that kube-state-metrics, every shard of it, runs, follows the cluster and is scraped",
			}, nil
		}
	}
	return Cause{
		CheckSource,
		fmt.Sprintf("%s %s metrics, but there is no value of the preset %s yet", own, q.server(), q.Preset),
		"a rate needs several samples; if this lasts, check that each pod reports all metrics of the preset",
	}, nil
}

// missingMetrics are the metrics without which an expression has no value, the first ones of those that stand in for each other.
func missingMetrics(node parser.Expr, reported map[string]float64) (missing []string) {
	switch n := node.(type) {
	case *parser.VectorSelector:
		own := n.Name == signal.PodOwner || n.Name == signal.ReplicaSetOwner || matcher(n, "exported_namespace") == nil
		names := promexpr.Names(n)
		if !own && !slices.ContainsFunc(names, func(name string) bool { return reported[name] > 0 }) {
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

// missingOperands are the metrics without which an operation has no value.
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
