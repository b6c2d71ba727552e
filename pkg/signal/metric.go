package signal

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// window is the range of rates: four scrapes at the usual 30 s.
const (
	window        = "2m"
	windowSeconds = 120
)

// DefaultStep is the step of a preset that is shown without a Forecast.
const DefaultStep = 30 * time.Second

// scope is the workload that a template is rendered for. Its methods build the parts of a template.
type scope struct {
	namespace string
	target    Target
	trust     Trust
	// wait is that of a lateness preset.
	wait time.Duration
	// step is that of the samples.
	step time.Duration
}

// metric is one quantity under the names that releases give it.
type metric struct {
	// names are its current and former names, newest first. For each pod the first one that it reports counts, so that
	// a release that reports both does not count twice.
	names []string
	// matchers are further label matchers.
	matchers string
	// distinct are the labels of the series that add up within a pod: engines, models. Without them all series of one
	// scrape job add up, for metrics with unknown labels.
	distinct []string
	// over is the range function, "rate" or "delta"; empty for an instant value.
	over string
	// window is the range of over; empty for the usual one.
	window string
	// ago is how long before now an instant value was; 0 for now.
	ago time.Duration
}

// metricNamed is a metric with these names.
func metricNamed(names ...string) metric { return metric{names: names} }

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
	matchers := m.matchers
	if matchers != "" {
		matchers += ","
	}
	half := func(pod, from string) string {
		labels := strings.Join(append([]string{pod}, by...), ", ")
		return fmt.Sprintf(`%s by (%s) (%s)`, aggregate, labels, m.apply(name+"{"+matchers+from+"}"))
	}
	namespace := strconv.Quote(s.namespace)
	exported := half("exported_pod", "exported_namespace="+namespace+","+s.trust.reporters(s.namespace))
	own := half("pod", `exported_namespace="",namespace=`+namespace)
	return fmt.Sprintf(`(label_replace(%s, "pod", "$1", "exported_pod", "(.+)") or %s)`, exported, own)
}

// apply selects samples. No quantity is below 0: a gauge that is has a fault, or an author who means harm.
func (m metric) apply(selector string) string {
	if m.ago > 0 {
		selector += " offset " + model.Duration(m.ago).String()
	}
	if m.over == "" {
		return selector + " >= 0"
	}
	return fmt.Sprintf("%s(%s[%s])", m.over, selector, cmp.Or(m.window, window))
}

// instantSeries is the series of a metric with one name, the greatest of copies.
func (s scope) instantSeries(name, matchers string, by ...string) string {
	return s.series("max", name, metric{matchers: matchers}, by...)
}

// perPod is the metric's sum for each pod, in the label pod. The ports that a scrape job reads of a pod are instances,
// which add up; another job reads the same pod once more, at the same port or at that of a proxy: the greater counts.
func (s scope) perPod(m metric) string {
	versions := make([]string, len(m.names))
	for i, name := range m.names {
		if len(m.distinct) == 0 {
			versions[i] = fmt.Sprintf(`max by (pod) (%s)`, s.series("sum", name, m, "job"))
			continue
		}
		distinct := strings.Join(m.distinct, ", ")
		series := s.series("max", name, m, append([]string{"job", "instance"}, m.distinct...)...)
		versions[i] = fmt.Sprintf(
			`sum by (pod) (max by (pod, %s) (sum by (pod, job, %[1]s) (max by (pod, job, instance, %[1]s) (%s))))`,
			distinct, series,
		)
	}
	return "(" + strings.Join(versions, " or ") + ")"
}

// sumPerPod sums several per-pod expressions by pod. A plus sign would drop every pod that lacks one of them.
func sumPerPod(perPod ...string) string {
	parts := make([]string, len(perPod))
	for i, expr := range perPod {
		parts[i] = fmt.Sprintf(`label_replace(%s, "part", "%d", "", "")`, expr, i)
	}
	return "sum by (pod) (" + strings.Join(parts, " or ") + ")"
}

// sumAboveZero is sumPerPod for arrivals: requests that passed, plus the growth of those held. It is at least 0 for
// each pod, because requests that vanish with a pod's restart were not served.
func sumAboveZero(perPod ...string) string { return `clamp_min(` + sumPerPod(perPod...) + `, 0)` }

// growth is the growth per second of the requests held, by pod.
func (s scope) growth(held metric) string { return perSecond(s.perPod(held.delta())) }

// perSecond is the change over the window, per second.
func perSecond(delta string) string { return fmt.Sprintf(`%s / %d`, delta, windowSeconds) }

// total is the sum of a per-pod expression over the target's pods. The expression may have several series for a pod.
func (s scope) total(perPod string) string {
	return s.unlessUnknown(fmt.Sprintf(`sum(%s * on (pod) group_left () %s)`, perPod, s.pods()), perPod)
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
	service := fmt.Sprintf(`(%s > 0) / (%s > 0)`, s.perPod(running.mean()), s.perPod(passed.rate()))
	perPod := fmt.Sprintf(`clamp_min(%[1]s + (%[2]s - %[3]s) / %[4]v * (%[5]s), 0) or (%[1]s + %[2]s)`,
		now, queue, s.perPod(waiting.before(s.step)), s.step.Seconds(), service)
	return s.unlessUnknown(fmt.Sprintf(`sum((%s) * on (pod) group_left () %s)`, perPod, s.pods()), queue)
}

// arrivals follows from conservation: the arrivals in a window are the requests that passed the counter, plus the
// growth of those held before it. It is at least 0 for each pod, because requests that vanish with a pod's restart were
// not served.
func (s scope) arrivals(passed, held metric) string {
	return s.total(fmt.Sprintf(`clamp_min(%s + %s, 0)`, s.perPod(passed.rate()), s.growth(held)))
}

// kvCaches is the KV caches in use, counted in replicas: the mean over the engines of a replica, summed over replicas.
// A pod is a replica, except in a LeaderWorkerSet, where a replica has several pods, which may all report.
func (s scope) kvCaches(m metric) string {
	versions := make([]string, len(m.names))
	for i, name := range m.names {
		by := append([]string{"instance"}, m.distinct...)
		versions[i] = fmt.Sprintf(`avg by (pod) (max by (pod, %s) (%s))`,
			strings.Join(by, ", "), s.series("max", name, m, by...))
	}
	perPod := "(" + strings.Join(versions, " or ") + ")"
	return s.unlessUnknown(fmt.Sprintf(`sum(avg by (replica) (%s * on (pod) group_left (replica) %s))`, perPod,
		s.podsWithReplica()), perPod)
}
