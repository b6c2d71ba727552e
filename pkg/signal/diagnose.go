package signal

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/forewarm/forewarm/pkg/printable"
)

// Diagnosis finds out why a Forecast's query has no series. It names only workloads of the Forecast's own namespace: of what others
// report it learns at most how much there is.
type Diagnosis struct {
	// Expr is the rendered preset, or the user's own query, confined.
	Expr      string
	Namespace string
	// Preset, Target and Trust are what Expr was rendered for; Preset is empty for a user's own query.
	Preset string
	Target Target
	Trust  Trust
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
func (d Diagnosis) Explain(ask Ask) (string, error) {
	c, err := d.Find(ask)
	if err != nil {
		return "", err
	}
	return c.String(), nil
}

// Find finds the cause with a few queries. The error is that of ask.
func (d Diagnosis) Find(ask Ask) (Cause, error) {
	if d.Preset == "" {
		return d.findInQuery(ask)
	}
	if d.server() == "dynamo" { // The pods that report are those of the frontend.
		d.Target = Target{Kind: "Deployment", Name: frontendOf(d.Target)}
	}
	reports, owners := d.selectors()
	found, err := d.reporting(ask, reports, owners)
	switch {
	case err != nil:
		return Cause{}, err
	case found.pods == 0:
		return d.nothingReports(ask, reports, owners)
	case found.own == 0:
		return d.othersReport(ask, found, owners)
	}
	return d.ownReport(ask, found)
}

// claimed is the cause if only pods of other namespaces report this one's, and do not count.
func (d Diagnosis) claimed(ask Ask) (c Cause, ok bool, err error) {
	claims := Claims(d.Expr)
	if claims == "" {
		return c, false, nil
	}
	n, err := number(ask, "count("+claims+")")
	return Cause{
		CheckExporters,
		fmt.Sprintf("pods of %s report pods of namespace %s, and are not named as exporters", count(n, "other namespace"), d.Namespace),
		"if they are exporters, the operator adds their namespaces to --exporter-namespaces (forewarm doctor lists them)",
	}, n > 0, err
}

// number is the value of an expression with at most one series; 0 for none.
func number(ask Ask, expr string) (float64, error) {
	got, err := ask(expr, "")
	return got[""], err
}

// selectors are the selectors of a rendered preset: of what pods report, one for each spelling of a metric, and of kube-state-metrics' owners without what they match of
// the owner. The latter are by their metric.
func (d Diagnosis) selectors() (reports []*parser.VectorSelector, owners map[string][]*parser.VectorSelector) {
	owners = map[string][]*parser.VectorSelector{}
	for _, s := range Selectors(d.Expr) {
		switch {
		case s.Name == podOwner || s.Name == replicaSetOwner:
			plain := keepMatchers(s, "namespace", "exported_namespace", d.clusterLabel())
			if !slices.ContainsFunc(owners[s.Name], func(o *parser.VectorSelector) bool { return o.String() == plain.String() }) {
				owners[s.Name] = append(owners[s.Name], plain)
			}
		case matcher(s, "exported_namespace") != nil && s.Name != startTime:
			for _, name := range namesOf(s) {
				one := &parser.VectorSelector{Name: name, LabelMatchers: []*labels.Matcher{
					labels.MustNewMatcher(labels.MatchEqual, labels.MetricName, name),
				}}
				for _, m := range s.LabelMatchers {
					if m.Name != labels.MetricName {
						one.LabelMatchers = append(one.LabelMatchers, m)
					}
				}
				reports = append(reports, one)
			}
		}
	}
	return reports, owners
}

func (d Diagnosis) clusterLabel() string {
	label, _, _ := strings.Cut(string(d.Trust.Cluster), "=")
	return label
}

// Selectors are those of an expression, without offsets; each once.
func Selectors(expr string) []*parser.VectorSelector {
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

// keepMatchers is a selector with the name and the matchers of these labels only.
func keepMatchers(s *parser.VectorSelector, kept ...string) *parser.VectorSelector {
	out := &parser.VectorSelector{Name: s.Name}
	for _, m := range s.LabelMatchers {
		if m.Name == labels.MetricName || slices.Contains(kept, m.Name) {
			out.LabelMatchers = append(out.LabelMatchers, m)
		}
	}
	return out
}

// with is a selector with further matchers of the form label, value.
func with(s *parser.VectorSelector, kind labels.MatchType, pairs ...string) *parser.VectorSelector {
	out := &parser.VectorSelector{Name: s.Name, LabelMatchers: slices.Clone(s.LabelMatchers)}
	for pair := range slices.Chunk(pairs, 2) {
		out.LabelMatchers = append(out.LabelMatchers, labels.MustNewMatcher(kind, pair[0], pair[1]))
	}
	return out
}

func matcher(s *parser.VectorSelector, label string) *labels.Matcher {
	for _, m := range s.LabelMatchers {
		if m.Name == label {
			return m
		}
	}
	return nil
}

// exported reports whether a selector is of series whose pod is in exported_pod.
func exported(s *parser.VectorSelector) bool { return matcher(s, "exported_namespace").Value != "" }

// byPod groups selectors by their pod, in the label pod, and further labels. What has no pod is left out.
func byPod(selectors []*parser.VectorSelector, by ...string) string {
	var parts []string
	for _, s := range selectors {
		if exported(s) {
			parts = append(parts, fmt.Sprintf(`label_replace(group by (%s) (%s), "pod", "$1", "exported_pod", "(.+)")`,
				strings.Join(append([]string{"exported_pod"}, by...), ", "), with(s, labels.MatchNotEqual, "exported_pod", "")))
		} else {
			parts = append(parts, fmt.Sprintf(`group by (%s) (%s)`,
				strings.Join(append([]string{"pod"}, by...), ", "), with(s, labels.MatchNotEqual, "pod", "")))
		}
	}
	return fmt.Sprintf(`group by (%s) (%s)`, strings.Join(append([]string{"pod"}, by...), ", "), strings.Join(parts, " or "))
}

// noOwner are the owner kinds of what has no owner.
const noOwner = `|<none>`

// workloads is 1 for each pod that kube-state-metrics knows, with its workload in the label workload: "Deployment/llama". Of several owners
// that it reports of one pod or ReplicaSet one counts.
func workloads(owners map[string][]*parser.VectorSelector) string {
	pods, sets := owners[podOwner], owners[replicaSetOwner]
	if len(pods) == 0 || len(sets) == 0 {
		return ""
	}
	ofSets := make([]string, len(sets))
	for i, s := range sets {
		ofSets[i] = fmt.Sprintf(`group by (replicaset, owner_kind, owner_name) (%s)`, with(s, labels.MatchNotRegexp, "owner_kind", noOwner))
	}
	set := fmt.Sprintf(`topk by (owner_name) (1, group by (owner_name, workload) (label_replace(label_join(%s,
		"workload", "/", "owner_kind", "owner_name"), "owner_name", "$1", "replicaset", "(.+)")))`, "("+strings.Join(ofSets, " or ")+")")
	inSets := make([]*parser.VectorSelector, len(pods))
	for i, s := range pods {
		inSets[i] = with(s, labels.MatchEqual, "owner_kind", "ReplicaSet")
	}
	expr := fmt.Sprintf(`(topk by (pod) (1, group by (pod, workload) (%s * on (owner_name) group_left (workload) %s))
		or on (pod) topk by (pod) (1, group by (pod, workload) (label_join(%s, "workload", "/", "owner_kind", "owner_name"))))`,
		byPod(inSets, "owner_name"), set, byPod(pods, "owner_kind", "owner_name"))
	return strings.Join(strings.Fields(expr), " ")
}

// reporting is what pods of the namespace report.
type reporting struct {
	// pods is how many report at all, own how many of them are the target's, and unknown how many have no known owner.
	pods, own, unknown float64
	// metrics is how many of the target's pods report a metric.
	metrics map[string]float64
	// workloads is how many pods of each other workload report.
	workloads map[string]float64
}

// maxRows bounds an answer that has a series for each workload, so that it stays below the limit of a source.
const maxRows = 300

// rows counts pods by a metric that they report, and by their workload. The metric "" is any of them.
func rows(reports []*parser.VectorSelector, owners map[string][]*parser.VectorSelector) string {
	each := fmt.Sprintf(`group by (pod, reported) (label_replace(%s, "reported", "$1", %q, "(.+)"))`,
		byPod(merged(reports), labels.MetricName), labels.MetricName)
	all := fmt.Sprintf(`(%s or group by (pod) (%s))`, each, each)
	joined := all
	if of := workloads(owners); of != "" {
		joined = fmt.Sprintf(`(%s * on (pod) group_left (workload) %s or on (pod) %s)`, all, of, all)
	}
	const counted = `topk(%d, sum by (row) (label_join(count by (reported, workload) (%s), "row", " ", "reported", "workload")))`
	return fmt.Sprintf(counted, maxRows, joined)
}

// merged makes one selector of those that differ in their metric only: VictoriaMetrics takes queries of 16 KiB.
func merged(selectors []*parser.VectorSelector) (out []*parser.VectorSelector) {
	var names [][]string
	var sets []string
	for _, s := range selectors {
		plain := &parser.VectorSelector{}
		for _, m := range s.LabelMatchers {
			if m.Name != labels.MetricName {
				plain.LabelMatchers = append(plain.LabelMatchers, m)
			}
		}
		at := slices.Index(sets, plain.String())
		if at < 0 {
			at = len(out)
			out, sets, names = append(out, plain), append(sets, plain.String()), append(names, nil)
		}
		names[at] = append(names[at], regexp.QuoteMeta(s.Name))
	}
	for i := range out {
		out[i] = with(out[i], labels.MatchRegexp, labels.MetricName, strings.Join(names[i], "|"))
	}
	return out
}

func (d Diagnosis) reporting(
	ask Ask, reports []*parser.VectorSelector, owners map[string][]*parser.VectorSelector,
) (out reporting, err error) {
	if len(reports) == 0 {
		return out, nil
	}
	found, err := ask(rows(reports, owners), "row")
	own := d.ownPods()
	out.metrics, out.workloads = map[string]float64{}, map[string]float64{}
	for row, n := range found {
		metric, workload, _ := strings.Cut(row, " ")
		switch {
		case metric != "":
			if own(workload) {
				out.metrics[metric] += n
			}
			continue
		case own(workload):
			out.own += n
		case workload == "":
			out.unknown += n
		default:
			out.workloads[workload] += n
		}
		out.pods += n
	}
	return out, err
}

// placeholder is a name in place of a target's.
const placeholder = "forewarm-placeholder"

// ownedAs are the workloads of a target's pods as kube-state-metrics names them: their kind, and an expression with the target's name as
// its group.
func (d Diagnosis) ownedAs() map[string][]*regexp.Regexp {
	out := map[string][]*regexp.Regexp{}
	s := scope{namespace: d.Namespace, target: Target{Kind: d.Target.Kind, Name: placeholder}}
	expr, err := s.formatQuery(s.pods())
	if err != nil {
		return out
	}
	for _, s := range Selectors(expr) {
		kind, name := matcher(s, "owner_kind"), matcher(s, "owner_name")
		if kind == nil || name == nil || kind.Type != labels.MatchEqual {
			continue
		}
		pattern := name.Value
		if name.Type == labels.MatchEqual {
			pattern = regexp.QuoteMeta(pattern)
		}
		pattern = strings.Replace(pattern, regexp.QuoteMeta(placeholder), "(?P<name>.+?)", 1)
		if re, bad := regexp.Compile("^(?:" + pattern + ")$"); bad == nil {
			out[kind.Value] = append(out[kind.Value], re)
		}
	}
	return out
}

// targetNames are the names by which a target of the same kind would have the pods of a workload.
func targetNames(workload string, as map[string][]*regexp.Regexp) (names []string) {
	kind, name, _ := strings.Cut(workload, "/")
	for _, re := range as[kind] {
		if m := re.FindStringSubmatch(name); m != nil {
			names = append(names, m[re.SubexpIndex("name")])
		}
	}
	return names
}

// ownPods reports whether the pods of a workload are the target's.
func (d Diagnosis) ownPods() func(workload string) bool {
	as := d.ownedAs()
	own := append([]string{d.Target.Name}, d.Target.FormerNames...)
	return func(workload string) bool {
		return slices.ContainsFunc(targetNames(workload, as), func(name string) bool { return slices.Contains(own, name) })
	}
}

// similar is the workload that was probably meant, as one writes it in targetRef; empty if none is near. Of two that are equally near it is
// the one whose pods report.
func (d Diagnosis) similar(workloads, reporting map[string]float64) string {
	best, least := "", math.Inf(1)
	as := d.ownedAs()
	consider := func(text, name string, distance float64) {
		distance += d.distance(name)
		if distance < least || distance == least && text < best {
			best, least = text, distance
		}
	}
	const otherKind, silent = 0.5, 0.25 // A name is misspelled more often than a kind.
	for workload := range workloads {
		kind, name, _ := strings.Cut(workload, "/")
		further := silent
		if reporting[workload] > 0 {
			further = 0
		}
		for _, of := range targetNames(workload, as) {
			consider(of, of, further)
		}
		if kind != d.Target.Kind && !slices.Contains(strings.Split(noOwner, "|"), kind) {
			consider(workload, name, further+otherKind)
		}
	}
	if math.IsInf(least, 1) {
		return ""
	}
	return safe(best)
}

// distance is how far a name is from the target's; infinite if nobody would take one for the other.
func (d Diagnosis) distance(name string) float64 {
	own := d.Target.Name
	changed := editDistance(own, name)
	shorter, longer := own, name
	if len(shorter) > len(longer) {
		shorter, longer = longer, shorter
	}
	const contained = 3
	if changed <= max(1, len(own)/3) || len(shorter) >= contained && strings.Contains(longer, shorter) {
		return float64(changed)
	}
	return math.Inf(1)
}

func (d Diagnosis) target() string { return d.Target.Kind + "/" + safe(d.Target.Name) }

func (d Diagnosis) server() string {
	server, _, _ := strings.Cut(d.Preset, "/")
	return server
}

// known counts the pods of each workload of the namespace that kube-state-metrics knows.
func known(ask Ask, owners map[string][]*parser.VectorSelector) (map[string]float64, error) {
	of := workloads(owners)
	if of == "" {
		return nil, nil
	}
	return ask(fmt.Sprintf("topk(%d, count by (workload) (%s))", maxRows, of), "workload")
}

// withoutOwners is the cause if kube-state-metrics reports no owners of the namespace's pods, or not those of their ReplicaSets.
func (d Diagnosis) withoutOwners(
	ask Ask, all map[string]float64, owners map[string][]*parser.VectorSelector,
) (c Cause, ok bool, err error) {
	if len(owners[podOwner]) == 0 {
		return c, false, nil
	}
	anywhere := func(metric string) (float64, error) {
		return number(ask, "count("+keepMatchers(owners[metric][0], d.clusterLabel()).String()+")")
	}
	if len(all) == 0 {
		if c, ok, err = d.claimed(ask); err != nil || ok {
			return c, ok, err
		}
		n, err := anywhere(podOwner)
		switch {
		case err != nil:
			return c, false, err
		case n == 0:
			return Cause{
				CheckOwners, "kube-state-metrics reports no owners (" + podOwner + ")",
				"install kube-state-metrics, or scrape it: presets find the pods of a workload by its metrics",
			}, true, nil
		}
		return Cause{
			CheckOwners, fmt.Sprintf("kube-state-metrics reports no owners (%s) of pods in namespace %s, only of pods in other namespaces",
				podOwner, d.Namespace),
			"check the namespace of the Forecast; if it is right, let kube-state-metrics report it (--namespaces) and its scrape keep the " +
				"labels (honorLabels: true)",
		}, true, nil
	}
	if d.Target.Kind == "ReplicaSet" || !slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(w string) bool {
		return strings.HasPrefix(w, "ReplicaSet/")
	}) {
		return c, false, nil
	}
	var sets []string
	for _, s := range owners[replicaSetOwner] {
		sets = append(sets, s.String())
	}
	n, err := number(ask, "count("+strings.Join(sets, " or ")+")")
	if err != nil || n > 0 {
		return c, false, err
	}
	return Cause{
		CheckOwners,
		fmt.Sprintf("kube-state-metrics reports no owners of ReplicaSets (%s), so the pods of a Deployment are not found", replicaSetOwner),
		"let it collect replicasets (--resources), and do not drop the metric",
	}, true, nil
}

// names are the metrics of a preset, each in its first spelling.
func (d Diagnosis) names() (names []string) {
	expr := d.Expr
	if p, err := Lookup(d.Preset); err == nil {
		p.page = page{} // It tells engines apart, and is no quantity of the preset.
		if plain, bad := p.Render(d.Namespace, d.Target, d.Trust); bad == nil {
			expr = plain
		}
	}
	for _, s := range Selectors(expr) {
		name := namesOf(s)[0]
		own := matcher(s, "exported_namespace") == nil || name == startTime || name == podOwner || name == replicaSetOwner
		if !own && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// metrics are the metrics of a preset: "vllm metrics (vllm:num_requests_running)".
func (d Diagnosis) metrics() string {
	const most = 3
	names := d.names()
	text := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		text += ", …"
	}
	return d.server() + " metrics (" + text + ")"
}

// nothingReports is the cause where no pod of the namespace reports the preset's metrics.
func (d Diagnosis) nothingReports(
	ask Ask, reports []*parser.VectorSelector, owners map[string][]*parser.VectorSelector,
) (Cause, error) {
	if c, ok, err := d.claimed(ask); err != nil || ok {
		return c, err
	}
	if c, ok, err := d.withoutLabels(ask, reports); err != nil || ok {
		return c, err
	}
	c := Cause{Check: CheckSource, Message: fmt.Sprintf("no pod in namespace %s reports %s", d.Namespace, d.metrics())}
	others, err := d.otherServers(ask, owners)
	if err != nil {
		return c, err
	}
	if others.server != "" {
		c.Message += fmt.Sprintf(", but %s %s metrics", pods(others.pods, "report"), others.server)
		c.Remedy = "use the preset " + others.preset + ", or scrape the server that " + d.Preset + " is for"
		return c, nil
	}
	all, err := known(ask, owners)
	if err != nil {
		return c, err
	}
	c.Remedy = "check that the server's metrics are scraped, for example by a PodMonitor, and that the preset is that of your server"
	missing, ok, err := d.withoutOwners(ask, all, owners)
	if err != nil {
		return c, err
	}
	if ok {
		c.Message += ", and " + missing.Message
		c.Remedy = missing.Remedy + "; and " + c.Remedy
		return c, nil
	}
	own, ownPods := 0.0, d.ownPods()
	for workload, n := range all {
		if ownPods(workload) {
			own += n
		}
	}
	switch near := d.similar(all, nil); {
	case own > 0:
		c.Message += fmt.Sprintf("; %s has %s", d.target(), count(own, "pod"))
	case near != "":
		c.Message += fmt.Sprintf(", and no pod belongs to %s. Did you mean %s?", d.target(), near)
		c.Remedy = "check spec.targetRef; and " + c.Remedy
	default:
		c.Message += fmt.Sprintf(", and no pod belongs to %s", d.target())
		c.Remedy = "check spec.targetRef and the namespace; and " + c.Remedy
	}
	return c, nil
}

// withoutLabels is the cause where series exist that lack a label by which a preset finds the pods of a namespace.
func (d Diagnosis) withoutLabels(ask Ask, reports []*parser.VectorSelector) (Cause, bool, error) {
	const noNamespace, noPod, noExported = "namespace", "pod", "exported_namespace"
	names := d.names()
	var parts []string
	add := func(fault, metric string, s *parser.VectorSelector) {
		part := fmt.Sprintf(`label_replace(count(%s), "row", "%s %s", "", "")`, s, fault, metric)
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	for _, s := range reports {
		if !slices.Contains(names, s.Name) {
			continue
		}
		plain := keepMatchers(s, "namespace", d.clusterLabel())
		if !exported(s) {
			add(noPod, s.Name, with(plain, labels.MatchEqual, "pod", "", "exported_pod", "", "exported_namespace", ""))
			add(noNamespace, s.Name, with(keepMatchers(s, d.clusterLabel()), labels.MatchEqual, "namespace", "", "exported_namespace", ""))
			continue
		}
		add(noPod, s.Name, with(keepMatchers(s, "namespace", "exported_namespace", d.clusterLabel()), labels.MatchEqual, "exported_pod", ""))
		add(noExported, s.Name, with(with(plain, labels.MatchEqual, "exported_namespace", ""), labels.MatchNotEqual, "exported_pod", ""))
	}
	if len(parts) == 0 {
		return Cause{}, false, nil
	}
	found, err := ask(strings.Join(parts, " or "), "row")
	if err != nil {
		return Cause{}, false, err
	}
	for _, name := range names {
		if n := found[noExported+" "+name]; n > 0 {
			return Cause{
				CheckLabels,
				fmt.Sprintf("%s of %s exported_pod without exported_namespace, so their pods are not found", seriesOf(n), name+" "+have(n)),
				"set honorLabels: true in the scrape of the exporter",
			}, true, nil
		}
		if n := found[noPod+" "+name]; n > 0 {
			return Cause{
				CheckLabels,
				fmt.Sprintf("%s of %s in namespace %s %s no label pod, so their pods are not found", seriesOf(n), name, d.Namespace,
					have(n)),
				"let the scrape add the pod, as a PodMonitor or ServiceMonitor does",
			}, true, nil
		}
		if n := found[noNamespace+" "+name]; n > 0 {
			return Cause{
				CheckLabels,
				fmt.Sprintf("no series of %s has the namespace %s, and %s none at all", name, d.Namespace, count(n, "series")+" "+have(n)),
				"let the scrape add the labels namespace and pod, as a PodMonitor or ServiceMonitor does",
			}, true, nil
		}
	}
	return Cause{}, false, nil
}

// otherServer is a server whose metrics pods report instead.
type otherServer struct {
	server, preset string
	pods           float64
}

// otherServers is the server whose metrics most pods of the target report, or of the namespace; empty without one.
func (d Diagnosis) otherServers(ask Ask, owners map[string][]*parser.VectorSelector) (best otherServer, err error) {
	if !slices.ContainsFunc(Sources(), func(s Source) bool { return s.Name == d.server() && s.serves() }) {
		return best, nil // What an exporter or a gateway measures is chosen for a reason.
	}
	var reports []*parser.VectorSelector
	ofMetric := map[string]Preset{}
	_, signal, _ := strings.Cut(d.Preset, "/")
	for _, source := range Sources() {
		if source.Name == d.server() || !source.serves() {
			continue
		}
		p := source.Presets[0]
		if same, bad := Lookup(source.Name + "/" + signal); bad == nil {
			p = same
		}
		expr, bad := p.Render(d.Namespace, d.Target, d.Trust)
		if bad != nil {
			continue
		}
		other := Diagnosis{Expr: expr, Namespace: d.Namespace, Preset: p.Name, Target: d.Target, Trust: d.Trust}
		own, _ := other.selectors()
		const most = 2 // Servers are known by few metrics, and queries have a limit.
		names := other.names()
		names = names[:min(most, len(names))]
		for _, s := range own {
			if !slices.Contains(names, s.Name) {
				continue
			}
			ofMetric[s.Name] = p
			reports = append(reports, keepMatchers(s, "namespace", "exported_namespace", d.clusterLabel()))
		}
	}
	found, err := ask(rows(reports, owners), "row")
	own := d.ownPods()
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

// serves reports whether a source is a server of requests: its own pods report its metrics.
func (s Source) serves() bool {
	return !slices.Contains([]string{"dcgm", "nvml", "gateway", "dynamo"}, s.Name)
}

// othersReport is the cause where pods of the namespace report, and none of them is the target's.
func (d Diagnosis) othersReport(ask Ask, found reporting, owners map[string][]*parser.VectorSelector) (Cause, error) {
	all, err := known(ask, owners)
	if err != nil {
		return Cause{}, err
	}
	reported := fmt.Sprintf("%s in namespace %s %s %s metrics", count(found.pods, "pod"), d.Namespace, verb(found.pods, "report"), d.server())
	if c, ok, err := d.withoutOwners(ask, all, owners); err != nil || ok {
		c.Message = reported + ", but " + c.Message
		return c, err
	}
	c := Cause{CheckSource, reported + "; none belongs to " + d.target(), "check spec.targetRef, and that its pods run and are scraped"}
	own, ownPods := 0.0, d.ownPods()
	for workload, n := range all {
		if ownPods(workload) {
			own += n
		}
	}
	gateway := d.server() == "gateway" && firstOn(d.Expr, parser.MUL, "picker") != nil
	switch near := d.similar(all, found.workloads); {
	case gateway && own > 0:
		c.Message = reported + "; none of them routes to pods of " + d.target()
		c.Remedy = "check that the InferencePool selects them, or give it the workload's name"
	case own > 0:
		c.Message += fmt.Sprintf(", which has %s", count(own, "other pod"))
		c.Remedy = "check that they are scraped, and that they run this server"
	case found.unknown > 0 && found.unknown == found.pods:
		c.Check = CheckOwners
		c.Message = fmt.Sprintf("%s, but kube-state-metrics reports no owners of them", reported)
		c.Remedy = "check that kube-state-metrics, every shard of it, runs, follows the cluster and is scraped"
	case near != "":
		c.Message += ". Did you mean " + near + "?"
	case len(found.workloads) > 0:
		c.Message += ", but to " + listWorkloads(found.workloads)
	}
	return c, nil
}

// ownReport is the cause where pods of the target report.
func (d Diagnosis) ownReport(ask Ask, found reporting) (Cause, error) {
	own := fmt.Sprintf("%s of %s %s", count(found.own, "pod"), d.target(), verb(found.own, "report"))
	root, err := parser.NewParser(parser.Options{}).ParseExpr(d.Expr)
	if err != nil {
		return Cause{}, err
	}
	missing := missingMetrics(root, found.metrics)
	if len(missing) > 0 {
		var reported []string
		for _, name := range slices.Sorted(maps.Keys(found.metrics)) {
			reported = append(reported, name)
		}
		return Cause{
			CheckSource,
			fmt.Sprintf("%s %s, but not %s, and the preset %s needs them together", own, strings.Join(reported, ", "),
				strings.Join(missing, ", "), d.Preset),
			"check that the server's version reports it, and that the scrape does not drop it",
		}, nil
	}
	if unknown := Unowned(d.Expr); unknown != "" {
		n, err := number(ask, unknown)
		if err != nil {
			return Cause{}, err
		}
		if n > 0 {
			return Cause{
				CheckOwners,
				fmt.Sprintf("%s %s metrics, but kube-state-metrics reports no owner of %s that %s, too", own, d.server(),
					count(n, "other pod"), verb(n, "report")+" them"),
				"check that kube-state-metrics, every shard of it, runs, follows the cluster and is scraped",
			}, nil
		}
	}
	return Cause{
		CheckSource, fmt.Sprintf("%s %s metrics, but there is no value of the preset %s yet", own, d.server(), d.Preset),
		"a rate needs several samples; if this lasts, check that each pod reports all metrics of the preset",
	}, nil
}

// missingMetrics are the metrics without which an expression has no value, the first ones of those that stand in for each other.
func missingMetrics(node parser.Expr, reported map[string]float64) (missing []string) {
	switch n := node.(type) {
	case *parser.VectorSelector:
		own := n.Name == podOwner || n.Name == replicaSetOwner || matcher(n, "exported_namespace") == nil
		names := namesOf(n)
		if own || slices.ContainsFunc(names, func(name string) bool { return reported[name] > 0 }) {
			return nil
		}
		return names[:1]
	case *parser.BinaryExpr:
		left := missingMetrics(n.LHS, reported)
		switch {
		case n.Op == parser.LUNLESS, n.Op == parser.LOR && len(left) == 0:
			return left
		case n.Op == parser.LOR:
			if len(missingMetrics(n.RHS, reported)) == 0 {
				return nil
			}
			return left
		}
		for _, name := range missingMetrics(n.RHS, reported) {
			if !slices.Contains(left, name) {
				left = append(left, name)
			}
		}
		return left
	}
	for child := range parser.ChildrenIter(node) {
		if expr, ok := child.(parser.Expr); ok {
			missing = append(missing, missingMetrics(expr, reported)...)
		}
	}
	return missing
}

// findInQuery is the cause where a user's own query has no series: the first selector that matches none.
func (d Diagnosis) findInQuery(ask Ask) (Cause, error) {
	const most = 8
	all := Selectors(d.Expr)
	all = all[:min(most, len(all))]
	var parts []string
	add := func(row string, s *parser.VectorSelector) {
		if matcher(s, labels.MetricName) != nil {
			parts = append(parts, fmt.Sprintf(`label_replace(count(%s), "row", %q, "", "")`, s, row))
		}
	}
	for i, s := range all {
		add(strconv.Itoa(i), s)
		confined := []string{d.TenantLabel, d.clusterLabel()}
		add(strconv.Itoa(i)+" any", keepMatchers(s, confined...))
		if d.TenantLabel == "namespace" {
			add(strconv.Itoa(i)+" exported", with(keepMatchers(s, d.clusterLabel()), labels.MatchEqual, "exported_namespace", d.Namespace))
		}
		for j, m := range s.LabelMatchers {
			if m.Name == labels.MetricName || slices.Contains(confined, m.Name) {
				continue
			}
			less := &parser.VectorSelector{Name: s.Name, LabelMatchers: slices.Delete(slices.Clone(s.LabelMatchers), j, j+1)}
			add(fmt.Sprintf("%d without %d", i, j), less)
		}
	}
	none := fmt.Sprintf("the query %s has no series", clip(d.Expr))
	c := Cause{CheckSource, none, "check that its metrics exist, and are scraped with these labels"}
	if len(parts) == 0 {
		return c, nil
	}
	found, err := ask(strings.Join(parts, " or "), "row")
	if err != nil {
		return c, err
	}
	where := ""
	if d.TenantLabel != "" {
		where = fmt.Sprintf(" with %s=%q", d.TenantLabel, d.Namespace)
	}
	for i, s := range all {
		if matcher(s, labels.MetricName) == nil || found[strconv.Itoa(i)] > 0 {
			continue
		}
		name := cmp.Or(s.Name, clip(matcher(s, labels.MetricName).String()))
		switch n := found[strconv.Itoa(i)+" any"]; {
		case n == 0 && found[strconv.Itoa(i)+" exported"] > 0:
			return Cause{
				CheckLabels,
				fmt.Sprintf("%s: no series of %s has the namespace %s in the label namespace, but %s in exported_namespace", none, name, d.Namespace,
					count(found[strconv.Itoa(i)+" exported"], "series")+" "+have(found[strconv.Itoa(i)+" exported"])+" it"),
				"set honorLabels: true in the scrape",
			}, nil
		case n == 0:
			c.Message = fmt.Sprintf("%s: there is no series of %s%s", none, name, where)
			c.Remedy = "check the name of the metric and the namespace, and that it is scraped"
			return c, nil
		default:
			return wrongLabel(none, name, i, s, found), nil
		}
	}
	c.Message += " now, but each of its selectors has"
	c.Remedy = "check the labels by which it joins its parts, its comparisons, a rate over fewer than two samples, and a division of 0 by 0, " +
		"which some stores leave out"
	return c, nil
}

// wrongLabel is the cause where series of a metric exist, but none has the labels of a selector.
func wrongLabel(none, name string, i int, s *parser.VectorSelector, found map[string]float64) Cause {
	for j, m := range s.LabelMatchers {
		if n := found[fmt.Sprintf("%d without %d", i, j)]; n > 0 {
			return Cause{
				CheckLabels,
				fmt.Sprintf("%s: no series of %s has %s, but %s the other labels", none, name, clip(m.String()), count(n, "series")+" "+have(n)),
				"correct this label in the query, or let the scrape add it",
			}
		}
	}
	return Cause{
		CheckLabels,
		fmt.Sprintf("%s: %s of %s, but none matches %s", none, exist(found[strconv.Itoa(i)+" any"]), name, clip(s.String())),
		"correct the labels in the query, or let the scrape add them",
	}
}

// The grammar of counts.

func count(n float64, noun string) string {
	if n != 1 && noun != "series" {
		noun += "s"
	}
	return fmt.Sprintf("%.0f %s", n, noun)
}

func seriesOf(n float64) string { return count(n, "series") }

func verb(n float64, plural string) string {
	if n == 1 {
		return plural + "s"
	}
	return plural
}

func have(n float64) string {
	if n == 1 {
		return "has"
	}
	return "have"
}

func exist(n float64) string {
	if n == 1 {
		return "there is 1 series"
	}
	return fmt.Sprintf("there are %.0f series", n)
}

func pods(n float64, plural string) string { return count(n, "pod") + " " + verb(n, plural) }

// listWorkloads lists up to three workloads, those with the most pods first.
func listWorkloads(workloads map[string]float64) string {
	const most = 3
	names := slices.SortedFunc(maps.Keys(workloads), func(a, b string) int {
		return cmp.Or(cmp.Compare(workloads[b], workloads[a]), strings.Compare(a, b))
	})
	var out []string
	for _, name := range names[:min(most, len(names))] {
		if name == "/" || strings.HasPrefix(name, "<none>") {
			name = "no workload"
		}
		out = append(out, safe(name))
	}
	if len(names) > most {
		out = append(out, fmt.Sprintf("%d more", len(names)-most))
	}
	return strings.Join(out, ", ")
}

// safe is a name from a label, which may be anything.
func safe(name string) string {
	const most = 100
	return printable.Clip(printable.Line(name), most)
}
