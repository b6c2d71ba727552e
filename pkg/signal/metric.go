package signal

import (
	"fmt"
	"strconv"
	"strings"
)

// window is the range of rates: four scrapes at the usual 30 s.
const (
	window        = "2m"
	windowSeconds = 120
)

// scope is the workload that a template is rendered for. Its methods are the words that templates are written in.
type scope struct {
	namespace string
	target    Target
}

// metric is what one fact is called in a template.
type metric struct {
	// names are its name and its former ones, newest first: of each pod the first that it reports counts, so that a
	// release that reports both is not counted twice.
	names []string
	// matchers of its own, "" for none.
	matchers string
	// distinct are the labels that tell apart what adds up within a pod: engines, models. Without them all series of one
	// scrape job add up, which serves metrics whose labels are not ours to know.
	distinct []string
	// over is a range function applied to it, "rate" or "delta"; empty for an instant.
	over string
}

// named is a metric by its names alone.
func named(names ...string) metric { return metric{names: names} }

func (m metric) rate() metric {
	m.over = "rate"
	return m
}

func (m metric) delta() metric {
	m.over = "delta"
	return m
}

// series is the metric in the Forecast's namespace with the workload's pod in the label pod, however it was scraped.
//
// An exporter such as dcgm-exporter or kube-state-metrics reports namespace and pod of others. Scraped with
// honorLabels: true they stay in namespace and pod; with false those labels are the exporter's own, and the reported
// ones arrive as exported_namespace and exported_pod. A series is of one kind or the other, so both halves can stand
// side by side: the first takes what has an exported_namespace, the second what has none. The exporter's own pod, which
// an idle GPU carries in pod, is no pod of the target and falls out at the join with the owners.
func (s scope) series(name string, m metric) string {
	matchers := m.matchers
	if matchers != "" {
		matchers += ","
	}
	namespace := strconv.Quote(s.namespace)
	exported := m.apply(name + "{" + matchers + "exported_namespace=" + namespace + "}")
	own := m.apply(name + "{" + matchers + `exported_namespace="",namespace=` + namespace + "}")
	return fmt.Sprintf(`(label_replace(%s, "pod", "$1", "exported_pod", "(.+)") or %s)`, exported, own)
}

func (m metric) apply(selector string) string {
	if m.over == "" {
		return selector
	}
	return fmt.Sprintf("%s(%s[%s])", m.over, selector, window)
}

// fact is the series of a metric with one name.
func (s scope) fact(name, matchers string) string { return s.series(name, metric{matchers: matchers}) }

// perPod is the metric's sum for each pod, in the label pod. A second scrape job copies series, and max makes one of the
// copies; what is scraped at another port is another instance, and adds up.
func (s scope) perPod(m metric) string {
	versions := make([]string, len(m.names))
	for i, name := range m.names {
		series := s.series(name, m)
		if len(m.distinct) == 0 {
			versions[i] = fmt.Sprintf(`sum by (pod) (max by (pod, instance) (sum by (pod, instance, job) (%s)))`,
				series)
			continue
		}
		versions[i] = fmt.Sprintf(`sum by (pod) (max by (pod, instance, %s) (%s))`, strings.Join(m.distinct, ", "),
			series)
	}
	return "(" + strings.Join(versions, " or ") + ")"
}

// together sums, pod by pod, what there is of several per-pod expressions. A plus sign would drop every pod that lacks
// one of them.
func together(perPod ...string) string {
	parts := make([]string, len(perPod))
	for i, expr := range perPod {
		parts[i] = fmt.Sprintf(`label_replace(%s, "part", "%d", "", "")`, expr, i)
	}
	return "sum by (pod) (" + strings.Join(parts, " or ") + ")"
}

// conserved sums what passed and how what is held grew, pod by pod, as together does. No pod falls below 0, for the requests
// that vanish with a pod's restart were not served.
func conserved(perPod ...string) string { return `clamp_min(` + together(perPod...) + `, 0)` }

// growth is by how much in a second what is held has grown, pod by pod.
func (s scope) growth(held metric) string { return perSecond(s.perPod(held.delta())) }

// perSecond is what changed in a window by the second.
func perSecond(delta string) string { return fmt.Sprintf(`%s / %d`, delta, windowSeconds) }

// total is the sum of a per-pod expression over the target's pods. The expression may have several series for a pod.
func (s scope) total(perPod string) string {
	return fmt.Sprintf(`sum(%s * on (pod) group_left () %s)`, perPod, s.pods())
}

// inflight is the requests that run and wait: both or nothing, for half of it would be taken for little demand.
func (s scope) inflight(running, waiting metric) string {
	return s.total(fmt.Sprintf(`(%s + %s)`, s.perPod(running), s.perPod(waiting)))
}

// arrivals is conservation: what has come in a window is what passed the counter in it, plus what is held before the
// counter grew by. The sum is kept from falling below 0 pod by pod, for the requests that vanish with a pod's restart
// were not served.
func (s scope) arrivals(passed, held metric) string {
	return s.total(fmt.Sprintf(`clamp_min(%s + %s, 0)`, s.perPod(passed.rate()), s.growth(held)))
}

// caches is the KV caches in use, counted in replicas: the mean over the engines of a replica, summed over replicas.
// A pod is a replica, save in a gang: there a replica has several pods, which may all report.
func (s scope) caches(m metric) string {
	versions := make([]string, len(m.names))
	for i, name := range m.names {
		versions[i] = fmt.Sprintf(`avg by (pod) (max by (pod, instance, %s) (%s))`,
			strings.Join(m.distinct, ", "), s.series(name, m))
	}
	return fmt.Sprintf(`sum(avg by (replica) ((%s) * on (pod) group_left (replica) %s))`,
		strings.Join(versions, " or "), s.replicas())
}
