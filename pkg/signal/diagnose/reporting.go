package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// selectors returns the selectors of a rendered preset. reports has those for the metrics of pods, one for each spelling of a metric.
// owners has those for kube-state-metrics' owners by metric, without the matchers for the owner.
func (q Query) selectors() (reports []*parser.VectorSelector, owners map[string][]*parser.VectorSelector) {
	owners = map[string][]*parser.VectorSelector{}
	for _, s := range promexpr.Selectors(q.Expr) {
		switch {
		case s.Name == signal.PodOwner || s.Name == signal.ReplicaSetOwner:
			plain := keepMatchers(s, "namespace", "exported_namespace", q.clusterLabel())
			same := func(o *parser.VectorSelector) bool { return o.String() == plain.String() }
			if !slices.ContainsFunc(owners[s.Name], same) {
				owners[s.Name] = append(owners[s.Name], plain)
			}
		case matcher(s, "exported_namespace") != nil && s.Name != signal.StartTime:
			reports = append(reports, spellings(s)...)
		}
	}
	return reports, owners
}

// spellings returns a selector for each name that a selector selects.
func spellings(s *parser.VectorSelector) (out []*parser.VectorSelector) {
	for _, name := range promexpr.Names(s) {
		one := &parser.VectorSelector{Name: name, LabelMatchers: slices.Clone(s.LabelMatchers)}
		for i, m := range one.LabelMatchers {
			if m.Name == model.MetricNameLabel {
				one.LabelMatchers[i] = labels.MustNewMatcher(labels.MatchEqual, m.Name, name)
			}
		}
		out = append(out, one)
	}
	return out
}

// ofNames returns the selectors of some metrics.
func ofNames(selectors []*parser.VectorSelector, names []string) (out []*parser.VectorSelector) {
	for _, s := range selectors {
		if slices.Contains(names, s.Name) {
			out = append(out, s)
		}
	}
	return out
}

func (q Query) clusterLabel() string {
	label, _, _ := strings.Cut(string(q.Trust.Cluster), "=")
	return label
}

// keepMatchers returns a selector with only the name and the matchers of these labels.
func keepMatchers(s *parser.VectorSelector, kept ...string) *parser.VectorSelector {
	out := &parser.VectorSelector{Name: s.Name}
	for _, m := range s.LabelMatchers {
		if m.Name == model.MetricNameLabel || slices.Contains(kept, m.Name) {
			out.LabelMatchers = append(out.LabelMatchers, m)
		}
	}
	return out
}

// with returns a selector with additional matchers, given as label and value in turn.
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

// exported reports whether a selector reads series whose pod is in exported_pod.
func exported(s *parser.VectorSelector) bool { return matcher(s, "exported_namespace").Value != "" }

// byPod groups selectors by their pod, in the label pod, and by further labels. Series without a pod are left out.
func byPod(selectors []*parser.VectorSelector, by ...string) string {
	grouping := func(pod string) string { return strings.Join(append([]string{pod}, by...), ", ") }
	var parts []string
	for _, s := range selectors {
		if exported(s) {
			parts = append(parts, fmt.Sprintf(`label_replace(group by (%s) (%s), "pod", "$1", "exported_pod", "(.+)")`,
				grouping("exported_pod"), with(s, labels.MatchNotEqual, "exported_pod", "")))
		} else {
			parts = append(parts,
				fmt.Sprintf(`group by (%s) (%s)`, grouping("pod"), with(s, labels.MatchNotEqual, "pod", "")))
		}
	}
	return fmt.Sprintf(`group by (%s) (%s)`, grouping("pod"), strings.Join(parts, " or "))
}

// noOwner matches the kinds of owner of an object without an owner.
const noOwner = `|<none>`

// workloads is 1 for each pod that kube-state-metrics knows, with its workload in the label workload, for example "Deployment/llama". If it
// reports several owners of a pod or a ReplicaSet, one of them counts.
func workloads(owners map[string][]*parser.VectorSelector) string {
	pods, sets := owners[signal.PodOwner], owners[signal.ReplicaSetOwner]
	if len(pods) == 0 || len(sets) == 0 {
		return ""
	}
	ofSets := make([]string, len(sets))
	for i, s := range sets {
		owned := with(s, labels.MatchNotRegexp, "owner_kind", noOwner)
		ofSets[i] = fmt.Sprintf(`group by (replicaset, owner_kind, owner_name) (%s)`, owned)
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

// reporting says what the pods of the namespace report.
type reporting struct {
	// pods is the number of pods that report, own is how many of them belong to the target, and unknown is how many have no known owner.
	pods, own, unknown float64
	// metrics says how many of the target's pods report each metric.
	metrics map[string]float64
	// workloads says how many pods of each other workload report.
	workloads map[string]float64
}

// maxRows limits an answer with a series for each workload, so that it stays below the limit of a source.
const maxRows = 300

// rows counts pods by a metric that they report and by their workload. The metric "" means any metric.
func (f finder) rows(reports []*parser.VectorSelector) string {
	each := fmt.Sprintf(`group by (pod, reported) (label_replace(%s, "reported", "$1", %q, "(.+)"))`,
		byPod(merged(reports), model.MetricNameLabel), model.MetricNameLabel)
	all := fmt.Sprintf(`(%s or group by (pod) (%s))`, each, each)
	joined := all
	if of := workloads(f.owners); of != "" {
		joined = fmt.Sprintf(`(%s * on (pod) group_left (workload) %s or on (pod) %s)`, all, of, all)
	}
	const counted = `topk(%d, sum by (row) (label_join(count by (reported, workload) (%s), "row", " ", "reported", "workload")))`
	return fmt.Sprintf(counted, maxRows, joined)
}

// merged merges selectors that differ only in their metric, because VictoriaMetrics limits queries to 16 KiB.
func merged(selectors []*parser.VectorSelector) (out []*parser.VectorSelector) {
	var names [][]string
	var sets []string
	for _, s := range selectors {
		plain := &parser.VectorSelector{}
		for _, m := range s.LabelMatchers {
			if m.Name != model.MetricNameLabel {
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
		out[i] = with(out[i], labels.MatchRegexp, model.MetricNameLabel, strings.Join(names[i], "|"))
	}
	return out
}

func (f finder) reporting() (out reporting, err error) {
	if len(f.reports) == 0 {
		return out, nil
	}
	found, err := f.ask(f.rows(f.reports), "row")
	out.metrics, out.workloads = map[string]float64{}, map[string]float64{}
	for row, n := range found {
		metric, workload, _ := strings.Cut(row, " ")
		switch {
		case metric != "":
			if f.isOwn(workload) {
				out.metrics[metric] += n
			}
			continue
		case f.isOwn(workload):
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

// known counts the pods of each workload in the namespace that kube-state-metrics knows.
func (f finder) known() (map[string]float64, error) {
	of := workloads(f.owners)
	if of == "" {
		return map[string]float64{}, nil
	}
	return f.ask(fmt.Sprintf("topk(%d, count by (workload) (%s))", maxRows, of), "workload")
}

// Labels that the series of a metric may lack.
const (
	lacksNamespace = "namespace"
	lacksPod       = "pod"
	lacksExported  = "exported_namespace"
)

// lacking counts the series of each metric that lack a label. The label row has the missing label and the metric.
func (q Query) lacking(reports []*parser.VectorSelector) string {
	var parts []string
	add := func(lacks, metric string, s *parser.VectorSelector) {
		part := fmt.Sprintf(`label_replace(count(%s), "row", "%s %s", "", "")`, s, lacks, metric)
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	for _, s := range reports {
		cluster := q.clusterLabel()
		plain := keepMatchers(s, "namespace", cluster)
		if exported(s) {
			all := keepMatchers(s, "namespace", "exported_namespace", cluster)
			add(lacksPod, s.Name, with(all, labels.MatchEqual, "exported_pod", ""))
			unnamed := with(plain, labels.MatchEqual, "exported_namespace", "")
			add(lacksExported, s.Name, with(unnamed, labels.MatchNotEqual, "exported_pod", ""))
			continue
		}
		add(lacksPod, s.Name, with(plain, labels.MatchEqual, "pod", "", "exported_pod", "", "exported_namespace", ""))
		none := with(keepMatchers(s, cluster), labels.MatchEqual, "namespace", "", "exported_namespace", "")
		add(lacksNamespace, s.Name, none)
	}
	return strings.Join(parts, " or ")
}

// withoutLabels returns the cause if series exist but lack a label by which a preset finds the pods of a namespace.
func (f finder) withoutLabels() (Cause, error) {
	reports := ofNames(f.reports, f.names())
	if len(reports) == 0 {
		return Cause{}, nil
	}
	found, err := f.ask(f.lacking(reports), "row")
	if err != nil {
		return Cause{}, err
	}
	for _, s := range reports {
		if n := found[lacksExported+" "+s.Name]; n > 0 {
			text := fmt.Sprintf(
				"%s of %s %s exported_pod without exported_namespace, so Forewarm cannot find their pods",
				count(n, "series"),
				s.Name,
				have(n),
			)
			return Cause{CheckLabels, text, "set honorLabels: true in the scrape of the exporter"}, nil
		}
		if n := found[lacksPod+" "+s.Name]; n > 0 {
			text := fmt.Sprintf("%s of %s in namespace %s %s no label pod, so Forewarm cannot find their pods",
				count(n, "series"), s.Name, f.Namespace, have(n))
			return Cause{
				CheckLabels,
				text,
				"make the scrape add the label pod, as a PodMonitor or ServiceMonitor does",
			}, nil
		}
		if n := found[lacksNamespace+" "+s.Name]; n > 0 {
			text := fmt.Sprintf("no series of %s has the namespace %s, and %s %s no namespace at all",
				s.Name, f.Namespace, count(n, "series"), have(n))
			const remedy = "make the scrape add the labels namespace and pod, as a PodMonitor or ServiceMonitor does"
			return Cause{CheckLabels, text, remedy}, nil
		}
	}
	return Cause{}, nil
}
