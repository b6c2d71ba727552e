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

// A rate needs four scrapes, so that one may fail. At the usual interval of 30 s, that is two minutes.
const (
	scrapesInWindow     = 4
	usualScrapeInterval = 30 * time.Second
)

// DefaultStep is the step of a preset that is shown without a Forecast.
const DefaultStep = 30 * time.Second

// scope is the workload for which a template is rendered. Its methods return the parts of a template.
type scope struct {
	namespace string
	target    Target
	trust     Trust
	// page identifies the engines of a pod; see perEngine. With the zero value, every port counts.
	page page
	// rate is true if the preset is a rate.
	rate bool
	// wait is the wait of a lateness preset.
	wait time.Duration
	// step is the step of the samples.
	step time.Duration
}

// window returns the range of rates.
func (s scope) window() time.Duration {
	return scrapesInWindow * max(usualScrapeInterval, s.trust.ScrapeInterval)
}

// perSecond returns the range function for the change of a counter or a gauge per second, and the divisor of its value. Over the usual
// window, this is the mean of two minutes. Over a longer window, a mean would lag, and PromQL's extrapolation would lose a quarter of it if
// a scrape fails. Therefore a longer window uses the change between the newest two samples of a counter, and the slope of a gauge.
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

// metric is one quantity with the names that releases give to it.
//
// Its series differ in the labels that the server sets, which are listed in pkg/signal/names, and in the labels that scraping adds. Series
// that differ in a listed label are added up. Any other label is external (a replica of Prometheus, a Service, a container, a tenant).
// Series that differ only in external labels are copies of one scrape, and the largest counts.
type metric struct {
	// names are the present and former names, newest first. For each pod, only the first name that it reports counts, so that a release that
	// reports two names does not count twice. "a|b" is one name in several spellings, of which a server has one.
	names []string
	// matchers are additional label matchers.
	matchers string
	// addNames is true if the spellings of a name are different quantities that add up.
	addNames bool
	// ranks are listed labels that distinguish the processes of one engine. These processes report the same value, and the largest counts.
	ranks []string
	// twin is a metric on the same page. It is set for a metric to which users can add labels of their own. Series with such labels add up, so
	// copies are counted in the twin, which has only listed labels.
	twin *metric
	// over is the range function, "rate" or "delta"; empty for an instant value.
	over string
	// window is the range of over; 0 means the usual one.
	window time.Duration
	// ago is how long ago an instant value was measured; 0 means now.
	ago time.Duration
	// most is the largest valid value of a gauge; 0 means no limit.
	most float64
	// native is the format for reading a native histogram; empty for plain samples.
	native string
}

// metricNamed returns a metric with these names.
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

// labels returns the listed labels of one of the metric's names, without its ranks and without labels that a matcher fixes.
func (m metric) labels(name string) []string {
	var all []string
	byName, _ := listed()
	for spelling := range strings.SplitSeq(name, "|") {
		all = append(all, byName[spelling]...)
	}
	if m.addNames {
		all = append(all, model.MetricNameLabel)
	}
	// A ServiceMonitor adds a label of that name. Without honorLabels, the server's own label is renamed.
	if slices.Contains(all, "endpoint") {
		all = append(all, "exported_endpoint")
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(label string) bool {
		return slices.Contains(m.ranks, label) || slices.Contains(sameInPod(), label) ||
			strings.HasPrefix(m.matchers, label+"=\"")
	})
}

// sameInPod returns listed labels whose values are the same in all series of a pod.
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

// series is the metric in the Forecast's namespace, aggregated by pod and additional labels. The label pod has the workload's pod, however
// the metric was scraped. The aggregation removes copies from a second exporter.
//
// An exporter such as dcgm-exporter or kube-state-metrics reports the namespace and pod of other pods. If it is scraped with honorLabels:
// true, these are in namespace and pod. With false, those labels are the exporter's own, and the reported ones are in exported_namespace
// and exported_pod. A series has one form or the other: the first half selects series with an exported_namespace, the second half series
// without. Any pod may report any namespace, so only the exporters that the operator has named are trusted, and the pods of the namespace
// itself. For an idle GPU, pod is the exporter's own pod. It is not a pod of the target, and the join with the owners drops it.
func (s scope) series(aggregate, name string, m metric, by ...string) string {
	half := func(pod, from string) string {
		return fmt.Sprintf(`%s by (%s) (%s)`, aggregate, list(pod, by), s.read(m, selector(name, m.matchers, from)))
	}
	namespace := strconv.Quote(s.namespace)
	exported := half("exported_pod", "exported_namespace="+namespace+","+s.trust.reporters(s.namespace))
	own := half("pod", `exported_namespace="",namespace=`+namespace)
	return fmt.Sprintf(`(label_replace(%s, "pod", "$1", "exported_pod", "(.+)") or %s)`, exported, own)
}

// list formats labels as a list in PromQL.
func list(first string, more []string) string {
	return strings.Join(append([]string{first}, more...), ", ")
}

// selector selects the series with a name in any of its spellings.
func selector(name string, matchers ...string) string {
	if strings.Contains(name, "|") {
		matchers = append([]string{"__name__=~" + strconv.Quote(name)}, matchers...)
		name = ""
	}
	return name + "{" + strings.Join(slices.DeleteFunc(matchers, func(m string) bool { return m == "" }), ",") + "}"
}

// read reads the samples of a selector. No quantity can be negative. A negative gauge is a fault or an attack.
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

// instantSeries is the series of a metric with one name. Of several copies, the largest counts.
func (s scope) instantSeries(name, matchers string, by ...string) string {
	return s.series("max", name, metric{matchers: matchers}, by...)
}

// perScrape is a metric under one of its names, by pod, job, instance and listed labels, so that each scrape counts once.
func (s scope) perScrape(name string, m metric) string {
	by := append([]string{"job", "instance"}, m.labels(name)...)
	if m.twin == nil {
		return fmt.Sprintf(`max by (%s) (%s)`, list("pod", by), s.series("max", name, m, by...))
	}
	sum := fmt.Sprintf(`sum by (%s) (%s)`, list("pod", by), s.series("sum", name, m, by...))
	return fmt.Sprintf(`(%[1]s / on (pod, job, instance) group_left () %[2]s or %[1]s)`, sum,
		s.copies(*m.twin, m.window))
}

// copies is the number of copies of a scrape over a window, by pod, job and instance.
func (s scope) copies(m metric, window time.Duration) string {
	m.window = window
	name, scrape := m.names[0], []string{"job", "instance"}
	labels := append(slices.Clone(m.ranks), m.labels(name)...)
	return fmt.Sprintf(`(sum by (pod, job, instance) (%s) / count by (pod, job, instance) (max by (%s) (%s)))`,
		s.series("count", name, m, scrape...), list("pod", append(scrape, labels...)),
		s.series("max", name, m, append(scrape, labels...)...))
}

// perPod is the sum of the metric for each pod, in the label pod.
func (s scope) perPod(m metric) string { return s.perPodAnd(m) }

// perPodAnd is the sum of the metric for each pod and each value of some of its listed labels. The ports of a pod that a scrape job reads
// are instances, whose values are added up. If another job reads the same pod at the same port or at that of a proxy, the larger value
// counts.
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

// perRank is the metric by pod and by all of its listed labels, including its ranks.
func (s scope) perRank(m metric) string {
	m.ranks = nil
	named := func(label string) bool { return label == model.MetricNameLabel }
	return s.perPodAnd(m, slices.DeleteFunc(m.labels(m.names[0]), named)...)
}

// totalOverGangs is the sum over the gangs of a target. Each pod of a gang may report a rank of one engine. Series that differ in their
// ranks belong to the same engine, and the largest counts. Engines with the same rank in several pods are added up, and so are series that
// differ in other labels. parts are quantities by pod, labels and ranks. The value of a gang is at least 0.
func (s scope) totalOverGangs(ranks, labels []string, parts ...string) string {
	all := "(" + promexpr.Parts(parts...) + ")"
	labels = append([]string{"part"}, labels...)
	return s.unlessUnknown(fmt.Sprintf(
		`sum(clamp_min(sum by (replica) (max by (%s) (sum by (%s) (%s * on (pod) group_left (replica) %s))), 0))`,
		list("replica", labels), list("replica", slices.Concat(labels, ranks)), all, s.podsWithReplica()),
		s.pageSeries("group", s.page.gauges+"|"+s.page.counters))
}

// counted is the rate of the values that histograms have counted, by pod. A store may keep them as classic histograms. With
// convert_classic_histograms_to_nhcb, it keeps them as native histograms with custom buckets, which have no series with the suffix _count.
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

// sumPerPod sums several expressions by pod. A plus sign would drop every pod for which one of them has no value.
func sumPerPod(perPod ...string) string { return "sum by (pod) (" + promexpr.Parts(perPod...) + ")" }

// sumAboveZero is sumPerPod for arrivals, which are the requests that passed plus the growth of the requests that are held. It is at least
// 0 for each pod, because requests that vanish when a pod restarts were not served.
func sumAboveZero(perPod ...string) string { return `clamp_min(` + sumPerPod(perPod...) + `, 0)` }

// growth is the growth per second of the requests that are held, by pod.
func (s scope) growth(held metric) string { return s.divided(s.perPod(held.delta())) }

// divided is the change per second of a sum of gauges that was read with delta.
func (s scope) divided(delta string) string {
	if _, divisor := s.perSecond("delta"); divisor != 1 {
		return fmt.Sprintf(`%s / %g`, delta, divisor)
	}
	return delta
}

// sumOverPods is the sum of an expression by pod over the target's pods. The expression may have several series for a pod.
func (s scope) sumOverPods(perPod string) string {
	return fmt.Sprintf(`sum(%s * on (pod) group_left () %s)`, perPod, s.pods())
}

// total is the sum of an expression by pod over the target's pods. It has no value while there are pods that may belong to the target.
func (s scope) total(perPod string) string { return s.totalOf(perPod, perPod) }

// totalOf is the total of an expression. Another expression determines which pods report. For a server with a page, these are the pods that
// serve the page.
func (s scope) totalOf(perPod, reporting string) string {
	if s.page != (page{}) {
		reporting = s.pageSeries("group", s.page.gauges+"|"+s.page.counters)
	}
	return s.unlessUnknown(s.sumOverPods(s.perEngine(perPod)), reporting)
}

// page has those metrics on a server's metrics page that distinguish engines: gauges that every engine reports, and counters. Both are
// spellings of a name.
type page struct{ gauges, counters string }

// pageSeries is the series of a page under some names, for as long as the preset has a value from them.
func (s scope) pageSeries(aggregate, names string, by ...string) string {
	var m metric
	if s.rate {
		m.over = "last_over_time"
	}
	return s.series(aggregate, names, m, by...)
}

// StartTime is the metric that client libraries report of the process behind a page.
const StartTime = "process_start_time_seconds"

// perEngine divides a sum by pod by the number of ports at which a job reads each engine of the pod, for example at a second port of one
// server, or through a proxy in front of it. Ports belong to one engine if their processes started at the same time. If the page does not
// have the start time, they belong to one engine if their counters are equal and not 0. All other ports count separately. (The counters
// include sums of times, which distinguish engines that have served the same number of requests.)
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

// inflight is the running and the waiting requests. It has a value only if both are known, because one of them alone would look like low
// demand.
func (s scope) inflight(running, waiting metric) string {
	return s.total(fmt.Sprintf(`(%s + %s)`, s.perPod(running), s.perPod(waiting)))
}

// offered is the number of requests that would be in flight if none had to wait. It is the running requests, plus the service time of the
// requests by which the queue grew, or minus that of the requests by which it shrank. The service time follows from Little's law (1961):
// the mean number of running requests divided by the rate at which they pass. If none passed, the value is inflight.
func (s scope) offered(running, waiting, passed metric) string {
	now, queue := s.perPod(running), s.perPod(waiting)
	service := fmt.Sprintf(`(%s > 0) / (%s > 0)`, s.perPod(running.mean()), s.counted(passed))
	perPod := fmt.Sprintf(`(clamp_min(%[1]s + (%[2]s - %[3]s) / %[4]v * (%[5]s), 0) or (%[1]s + %[2]s))`,
		now, queue, s.perPod(waiting.before(s.step)), s.step.Seconds(), service)
	return s.totalOf(perPod, queue)
}

// arrivals follows from conservation: the arrivals in a window are the requests that passed the counter, plus the growth of the requests
// that are held before it. It is at least 0 for each pod, because requests that vanish when a pod restarts were not served.
func (s scope) arrivals(passed, held metric) string {
	return s.total(fmt.Sprintf(`clamp_min(%s + %s, 0)`, s.counted(passed), s.growth(held)))
}

// kvCaches is the KV caches in use, counted in replicas: the mean over the engines of a replica, summed over the replicas. A pod is a
// replica, except in a LeaderWorkerSet, where a replica has several pods, each of which may report.
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
