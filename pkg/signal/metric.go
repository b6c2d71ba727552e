package signal

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// A rate needs four scrapes, so that it survives a missed one: two minutes at the usual interval of 30 s.
const (
	scrapesInWindow     = 4
	usualScrapeInterval = 30 * time.Second
)

// DefaultStep is the step of a preset that is shown without a Forecast.
const DefaultStep = 30 * time.Second

// scope is the workload that a template is rendered for. Its methods build the parts of a template.
type scope struct {
	namespace string
	target    Target
	trust     Trust
	// page is what identifies the engines of a pod; see perEngine. The zero value counts every port.
	page page
	// rate says that the preset is a rate.
	rate bool
	// wait is that of a lateness preset.
	wait time.Duration
	// step is that of the samples.
	step time.Duration
}

// window is the range of rates.
func (s scope) window() time.Duration {
	return scrapesInWindow * max(usualScrapeInterval, s.trust.ScrapeInterval)
}

// perSecond is the range function for the change of a counter or a gauge per second, and by what its value is to be divided. The mean
// over the usual window is the mean of two minutes. Over a longer one it would lag, and PromQL's extrapolation would lose a quarter of it
// with a missed scrape: there it is the change between the newest two samples of a counter, and the slope of a gauge.
func (s scope) perSecond(over string) (function string, divisor float64) {
	frequent := s.window() == scrapesInWindow*usualScrapeInterval
	switch {
	case over == "rate" && !frequent:
		return "irate", 1
	case over == "delta" && !frequent:
		return "deriv", 1
	case over == "delta":
		return over, s.window().Seconds()
	}
	return over, 1
}

// metric is one quantity under the names that releases give it.
//
// Its series differ in the labels that the server gives them, which pkg/signal/names lists, and in those of scraping. Series that
// differ in a listed label add up. Any other label is external (a replica of Prometheus, a Service, a container, a tenant), whatever
// its name: series that differ in nothing else are copies of one scrape, and the greatest counts.
type metric struct {
	// names are its current and former names, newest first. For each pod the first one that it reports counts, so that
	// a release that reports both does not count twice. "a|b" is one name in several spellings, of which a server has one.
	names []string
	// matchers are further label matchers.
	matchers string
	// addNames says that the spellings of a name are quantities that add up.
	addNames bool
	// ranks are listed labels in which the processes of one engine report the same figure: the greatest counts.
	ranks []string
	// twin is a metric on the same page, for one to whose series users add labels of their own. Those add up, and the copies are counted
	// in the twin, which has listed labels only.
	twin *metric
	// over is the range function, "rate" or "delta"; empty for an instant value.
	over string
	// window is the range of over; 0 for the usual one.
	window time.Duration
	// ago is how long before now an instant value was; 0 for now.
	ago time.Duration
	// most is the greatest value that a gauge can have; 0 for no limit.
	most float64
	// native is the format of what is read of a native histogram; empty for plain samples.
	native string
}

// metricNamed is a metric with these names.
func metricNamed(names ...string) metric { return metric{names: names} }

// observations is the number of values that classic histograms have counted.
func observations(histograms ...string) metric { return metricNamed(suffixed("_count", histograms)...) }

// suffixed appends a suffix to each spelling of each name.
func suffixed(suffix string, names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = strings.ReplaceAll(name, "|", suffix+"|") + suffix
	}
	return out
}

func (m metric) rate() metric {
	m.over = "rate"
	return m
}

func (m metric) delta() metric {
	m.over = "delta"
	return m
}

func (m metric) mean() metric {
	m.over = "avg_over_time"
	return m
}

func (m metric) before(ago time.Duration) metric {
	m.ago = ago
	return m
}

// labels are the listed labels of one of its names, without its ranks and without those that a matcher fixes.
func (m metric) labels(name string) []string {
	var all []string
	byName, _ := listed()
	for spelling := range strings.SplitSeq(name, "|") {
		all = append(all, byName[spelling]...)
	}
	if m.addNames {
		all = append(all, model.MetricNameLabel)
	}
	// A ServiceMonitor has a label of that name: without honorLabels the server's is renamed.
	if slices.Contains(all, "endpoint") {
		all = append(all, "exported_endpoint")
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(label string) bool {
		return slices.Contains(m.ranks, label) || slices.Contains(sameInPod(), label) ||
			strings.HasPrefix(m.matchers, label+"=\"")
	})
}

// sameInPod are listed labels by which no two series of a pod differ.
func sameInPod() []string {
	const (
		knative = "configuration_name container_name namespace_name pod_name revision_name service_name " +
			"destination_namespace destination_configuration destination_revision destination_pod "
		kserve        = "llm_isvc_name llm_isvc_role llm_isvc_component "
		ray           = "Component JobId Version NodeAddress SessionName node_id node_ip_address "
		openTelemetry = "otel_scope_name otel_scope_version otel_scope_schema_url"
	)
	return strings.Fields(knative + kserve + ray + openTelemetry)
}

// series is the metric in the Forecast's namespace with the workload's pod in the label pod, however it was scraped,
// aggregated by pod and further labels: copies that a second exporter made cannot collide.
//
// An exporter such as dcgm-exporter or kube-state-metrics reports the namespace and pod of other pods. Scraped with
// honorLabels: true they are in namespace and pod; with false those labels are the exporter's own, and the reported
// ones are in exported_namespace and exported_pod. A series is of one kind or the other: the first half selects series
// with an exported_namespace, the second those without. Any pod may report any namespace: only the exporters that the
// operator named are believed, and the namespace's own pods. The exporter's own pod, which an idle GPU has in pod, is not
// a pod of the target and drops out in the join with the owners.
func (s scope) series(aggregate, name string, m metric, by ...string) string {
	half := func(pod, from string) string {
		return fmt.Sprintf(`%s by (%s) (%s)`, aggregate, list(pod, by), s.read(m, selector(name, m.matchers, from)))
	}
	namespace := strconv.Quote(s.namespace)
	exported := half("exported_pod", "exported_namespace="+namespace+","+s.trust.reporters(s.namespace))
	own := half("pod", `exported_namespace="",namespace=`+namespace)
	return fmt.Sprintf(`(label_replace(%s, "pod", "$1", "exported_pod", "(.+)") or %s)`, exported, own)
}

// list is labels as PromQL lists them.
func list(first string, more []string) string {
	return strings.Join(append([]string{first}, more...), ", ")
}

// selector selects the series of a name in any of its spellings.
func selector(name string, matchers ...string) string {
	if strings.Contains(name, "|") {
		matchers = append([]string{"__name__=~" + strconv.Quote(name)}, matchers...)
		name = ""
	}
	return name + "{" + strings.Join(slices.DeleteFunc(matchers, func(m string) bool { return m == "" }), ",") + "}"
}

// read reads the samples of a selector. No quantity is below 0: a gauge that is has a fault, or an author who means harm.
func (s scope) read(m metric, selector string) string {
	if m.ago > 0 {
		selector += " offset " + model.Duration(m.ago).String()
	}
	switch {
	case m.over == "" && m.most > 0:
		return fmt.Sprintf("%s >= 0 <= %g", selector, m.most)
	case m.over == "":
		return selector + " >= 0"
	}
	function := m.over
	if m.window == 0 {
		function, _ = s.perSecond(m.over)
	}
	over := fmt.Sprintf("%s(%s[%s])", function, selector, model.Duration(cmp.Or(m.window, s.window())))
	if m.native != "" {
		return fmt.Sprintf(m.native, over)
	}
	return over
}

// instantSeries is the series of a metric with one name, the greatest of copies.
func (s scope) instantSeries(name, matchers string, by ...string) string {
	return s.series("max", name, metric{matchers: matchers}, by...)
}

// perScrape is a metric under one of its names by pod, job, instance and listed labels: each scrape once.
func (s scope) perScrape(name string, m metric) string {
	by := append([]string{"job", "instance"}, m.labels(name)...)
	if m.twin == nil {
		return fmt.Sprintf(`max by (%s) (%s)`, list("pod", by), s.series("max", name, m, by...))
	}
	sum := fmt.Sprintf(`sum by (%s) (%s)`, list("pod", by), s.series("sum", name, m, by...))
	return fmt.Sprintf(`(%[1]s / on (pod, job, instance) group_left () %[2]s or %[1]s)`, sum,
		s.copies(*m.twin, m.window))
}

// copies is how many copies of a scrape there are over a window, by pod, job and instance.
func (s scope) copies(m metric, window time.Duration) string {
	m.window = window
	name, scrape := m.names[0], []string{"job", "instance"}
	labels := append(slices.Clone(m.ranks), m.labels(name)...)
	return fmt.Sprintf(`(sum by (pod, job, instance) (%s) / count by (pod, job, instance) (max by (%s) (%s)))`,
		s.series("count", name, m, scrape...), list("pod", append(scrape, labels...)),
		s.series("max", name, m, append(scrape, labels...)...))
}

// perPod is the metric's sum for each pod, in the label pod.
func (s scope) perPod(m metric) string { return s.perPodAnd(m) }

// perPodAnd is the metric's sum for each pod and each value of some of its listed labels. The ports that a scrape job reads of a pod
// are instances, which add up; another job reads the same pod once more, at the same port or at that of a proxy: the greater counts.
func (s scope) perPodAnd(m metric, labels ...string) string {
	by := list("pod", labels)
	versions := make([]string, len(m.names))
	for i, name := range m.names {
		all := m.labels(name)
		versions[i] = fmt.Sprintf(`max by (%s) (sum by (%s) (%s))`, list("pod", all),
			list("pod", append([]string{"job"}, all...)), s.perScrape(name, m))
		if len(all) > len(labels) {
			versions[i] = fmt.Sprintf(`sum by (%s) (%s)`, by, versions[i])
		}
	}
	return "(" + strings.Join(versions, " or ") + ")"
}

// perRank is the metric by pod and all of its listed labels, its ranks included.
func (s scope) perRank(m metric) string {
	m.ranks = nil
	named := func(label string) bool { return label == model.MetricNameLabel }
	return s.perPodAnd(m, slices.DeleteFunc(m.labels(m.names[0]), named)...)
}

// totalOverGangs is the sum over the gangs of a target. The pods of a gang may each report a rank of one engine: series that differ in
// their ranks are that engine's, and the greatest counts; engines of the same rank in several pods add up, as do those that differ in
// other labels. Parts are quantities by pod, labels and ranks. A gang has at least 0.
func (s scope) totalOverGangs(ranks, labels []string, parts ...string) string {
	all := "(" + promexpr.Parts(parts...) + ")"
	labels = append([]string{"part"}, labels...)
	return s.unlessUnknown(fmt.Sprintf(
		`sum(clamp_min(sum by (replica) (max by (%s) (sum by (%s) (%s * on (pod) group_left (replica) %s))), 0))`,
		list("replica", labels), list("replica", slices.Concat(labels, ranks)), all, s.podsWithReplica()),
		s.pageSeries("group", s.page.gauges+"|"+s.page.counters))
}

// counted is the rate of the values that histograms have counted, by pod. A store may keep them as classic histograms or, with
// convert_classic_histograms_to_nhcb, as native ones with custom buckets, which have no series with the suffix _count.
func (s scope) counted(m metric) string {
	_, histograms := listed()
	native := m
	native.native, native.names = "histogram_count(%s)", nil
	for _, name := range m.names {
		var spellings []string
		for spelling := range strings.SplitSeq(name, "|") {
			if base, ok := strings.CutSuffix(spelling, "_count"); ok && histograms[base] {
				spellings = append(spellings, base)
			}
		}
		if len(spellings) > 0 {
			native.names = append(native.names, strings.Join(spellings, "|"))
		}
	}
	if len(native.names) == 0 {
		return s.perPod(m.rate())
	}
	return "(" + s.perPod(m.rate()) + " or " + s.perPod(native.rate()) + ")"
}

// sumPerPod sums several per-pod expressions by pod. A plus sign would drop every pod that lacks one of them.
func sumPerPod(perPod ...string) string { return "sum by (pod) (" + promexpr.Parts(perPod...) + ")" }

// sumAboveZero is sumPerPod for arrivals: requests that passed, plus the growth of those held. It is at least 0 for
// each pod, because requests that vanish with a pod's restart were not served.
func sumAboveZero(perPod ...string) string { return `clamp_min(` + sumPerPod(perPod...) + `, 0)` }

// growth is the growth per second of the requests held, by pod.
func (s scope) growth(held metric) string { return s.divided(s.perPod(held.delta())) }

// divided is the change per second of a sum of gauges that was read with delta.
func (s scope) divided(delta string) string {
	if _, divisor := s.perSecond("delta"); divisor != 1 {
		return fmt.Sprintf(`%s / %g`, delta, divisor)
	}
	return delta
}

// sumOverPods is the sum of a per-pod expression over the target's pods. The expression may have several series for a pod.
func (s scope) sumOverPods(perPod string) string {
	return fmt.Sprintf(`sum(%s * on (pod) group_left () %s)`, perPod, s.pods())
}

// total is the sum of a per-pod expression over the target's pods, unless there are pods that might be among them.
func (s scope) total(perPod string) string { return s.totalOf(perPod, perPod) }

// totalOf is the total of an expression. Pods that report are those of another one; for a server with a page, those that serve it.
func (s scope) totalOf(perPod, reporting string) string {
	if s.page != (page{}) {
		reporting = s.pageSeries("group", s.page.gauges+"|"+s.page.counters)
	}
	return s.unlessUnknown(s.sumOverPods(s.perEngine(perPod)), reporting)
}

// page is what a server's page of metrics has that tells engines apart: gauges that every engine reports, and counters. They are
// spellings of a name.
type page struct{ gauges, counters string }

// pageSeries is the series of a page under some names, for as long as the preset has a value of them.
func (s scope) pageSeries(aggregate, names string, by ...string) string {
	var m metric
	if s.rate {
		m.over = "last_over_time"
	}
	return s.series(aggregate, names, m, by...)
}

// StartTime is the metric that client libraries report of the process behind a page.
const StartTime = "process_start_time_seconds"

// perEngine divides a sum by pod by the number of ports at which a job reads each engine of the pod: a second port of one server, or
// a proxy in front of it. Ports are one engine if its process started at the same time, or where the page does not have that if its
// counters are equal and not 0; all other ports count. (The sums of times among the counters tell engines apart that have served as
// many requests.)
func (s scope) perEngine(perPod string) string {
	if s.page == (page{}) {
		return perPod
	}
	read := func(aggregate, names string) string {
		return fmt.Sprintf(`%s by (pod, job, instance) (%s)`, aggregate,
			s.pageSeries(aggregate, names, "job", "instance"))
	}
	ports := fmt.Sprintf(
		`max by (pod) (avg by (pod, job) (count_values by (pod, job) ("engine", %s and on (pod, job, instance) %s or %s > 0)))`,
		read("max", StartTime),
		read("group", s.page.gauges+"|"+s.page.counters),
		read("sum", s.page.counters),
	)
	return fmt.Sprintf(`(%s / on (pod) (%s or on (pod) %s))`, perPod, ports, s.ownedAtAll())
}

// inflight is the running and waiting requests: both or nothing, because one alone would look like low demand.
func (s scope) inflight(running, waiting metric) string {
	return s.total(fmt.Sprintf(`(%s + %s)`, s.perPod(running), s.perPod(waiting)))
}

// offered is what would be in flight if none waited: those running, and the service time of those by whom the queue grew, or less
// of those by whom it shrank. The service time is that of Little's law (1961): the mean of those running over the rate at which they
// pass. Without any that passed it is inflight.
func (s scope) offered(running, waiting, passed metric) string {
	now, queue := s.perPod(running), s.perPod(waiting)
	service := fmt.Sprintf(`(%s > 0) / (%s > 0)`, s.perPod(running.mean()), s.counted(passed))
	perPod := fmt.Sprintf(`(clamp_min(%[1]s + (%[2]s - %[3]s) / %[4]v * (%[5]s), 0) or (%[1]s + %[2]s))`,
		now, queue, s.perPod(waiting.before(s.step)), s.step.Seconds(), service)
	return s.totalOf(perPod, queue)
}

// arrivals follows from conservation: the arrivals in a window are the requests that passed the counter, plus the
// growth of those held before it. It is at least 0 for each pod, because requests that vanish with a pod's restart were
// not served.
func (s scope) arrivals(passed, held metric) string {
	return s.total(fmt.Sprintf(`clamp_min(%s + %s, 0)`, s.counted(passed), s.growth(held)))
}

// kvCaches is the KV caches in use, counted in replicas: the mean over the engines of a replica, summed over replicas.
// A pod is a replica, except in a LeaderWorkerSet, where a replica has several pods, which may all report.
func (s scope) kvCaches(m metric) string {
	versions := make([]string, len(m.names))
	for i, name := range m.names {
		by := append([]string{"instance"}, m.labels(name)...)
		versions[i] = fmt.Sprintf(`avg by (pod) (max by (%s) (%s))`, list("pod", by), s.series("max", name, m, by...))
	}
	perPod := "(" + strings.Join(versions, " or ") + ")"
	return s.unlessUnknown(fmt.Sprintf(`sum(avg by (replica) (%s * on (pod) group_left (replica) %s))`, perPod,
		s.podsWithReplica()), perPod)
}
