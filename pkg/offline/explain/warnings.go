package explain

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// Reasons of warnings.
const (
	ValueTargetCompounds    = "ValueTargetCompounds"
	NegativeMetric          = "NegativeMetric"
	ToleranceDeadBand       = "ToleranceDeadBand"
	RolloutSurge            = "RolloutSurge"
	ScaleUpDisabled         = "ScaleUpDisabled"
	ScaleUpSlowerThanRise   = "ScaleUpSlowerThanRise"
	ScaleDownBeforeLead     = "ScaleDownBeforeLead"
	MinReplicasHideForecast = "MinReplicasHideForecast"
	MaxReplicasCutForecast  = "MaxReplicasCutForecast"
	MaxReplicasReached      = "MaxReplicasReached"
	HistoryTooShort         = "HistoryTooShort"
	ForecastFallingBack     = "ForecastFallingBack"
	ForecastNotServing      = "ForecastNotServing"
	DemandSaturated         = "DemandSaturated"
	CoveredStartsWait       = "CoveredStartsWait"
	SeveralAutoscalers      = "SeveralAutoscalers"
	OwnedByKEDA             = "OwnedByKEDA"
	PausedByAnnotation      = "PausedByAnnotation"
	SpareGPUsKept           = "SpareGPUsKept"
	MetricNotExplained      = "MetricNotExplained"
)

// warnings adds all warnings, with the most important first.
func (t *explainer) warnings() {
	if t.s.Paused != "" {
		t.warn(PausedByAnnotation, "remove the annotation to let KEDA scale again",
			"KEDA does not scale while the annotation %.128s is set", t.s.Paused)
	}
	t.conditions()
	t.warnOtherAutoscalers()
	for i := range t.s.Spec.Metrics {
		t.warnNegative(i)
		t.warnValueTarget(i)
		t.warnForecastHealth(i)
		t.warnUncovered(i)
		t.warnSpareKept(i)
	}
	t.warnSurge()
	t.warnSlowScaleUp()
	t.warnReplicaLimits()
	t.warnDeadBand()
	t.warnScaleDown()
	for _, f := range t.s.Uncomputed {
		t.warnUncomputed(&f)
	}
}

// warnSurge warns about a rollout whose surge pods the HPA counts as wanted replicas (kubernetes/kubernetes#138505).
func (t *explainer) warnSurge() {
	existing, asked := t.s.Scale.Existing, t.s.Scale.Replicas
	i := t.out.Metric
	if i < 0 || t.out.Replicas <= asked || existing <= asked || asked == 0 {
		return
	}
	o := t.s.observed()
	p := t.s.Spec.Propose(&t.s.Spec.Metrics[i], &o, t.s.Metrics[i].Reading)
	if !p.WithinTolerance || p.Replicas != existing {
		return
	}
	t.warn(RolloutSurge, "give the rollout maxSurge: 0, or wait until it is over and the HPA scales down again",
		"%d of the %s exist only because of a rollout. Because of its tolerance, the HPA counts them as desired and "+
			"asks for %d, although the demand needs only %d", existing-asked, replicas(existing), t.out.Replicas,
		asked)
}

// warnUncomputed warns about a metric whose proposal only the HPA knows.
func (t *explainer) warnUncomputed(f *UncomputedMetric) {
	advice, why := "look at the pods themselves: kubectl top pods", f.Why
	switch {
	case f.Why != "":
		advice = "explain the HPA that KEDA creates, in the cluster"
	case f.Current == "":
		why = fmt.Sprintf("it reads individual pods (target %s), and there is no status with its value", f.Target)
	default:
		why = fmt.Sprintf("it reads individual pods; according to the HPA's status it is %s (target %s)", f.Current,
			f.Target)
	}
	t.warn(MetricNotExplained, advice, "%s %s is not computed here and may ask for more replicas: %s", f.Type,
		f.Name, why)
}

// warnOtherAutoscalers warns about other autoscalers that write the same replicas.
func (t *explainer) warnOtherAutoscalers() {
	if t.s.Owner != "" {
		t.warn(OwnedByKEDA, "change the ScaledObject",
			"KEDA creates this HPA from ScaledObject %s and reverts changes to "+
				"it; between 0 and 1 replicas KEDA itself scales", t.s.Owner)
	}
	if len(t.s.OtherAutoscalers) > 0 {
		t.warn(SeveralAutoscalers, "keep one autoscaler and give it the metrics of the others: the highest "+
			"proposal wins", "%s is also scaled by %s: each reverts what the other does", t.s.Target,
			humanize.List(t.s.OtherAutoscalers))
	}
}

// warnNegative warns about a negative sum, which the controller treats as an overflow.
func (t *explainer) warnNegative(i int) {
	m := &t.s.Spec.Metrics[i]
	for _, v := range t.s.Metrics[i].Reading.Values {
		if v < 0 && m.Source == hpa.External && m.Type == hpa.AverageValue {
			t.warn(NegativeMetric, "correct the query, for example with clamp_min(…, 0)",
				"%s is negative (%s): the controller treats it as an overflow and scales to maxReplicas",
				m.Name, formatMilli(v))
		}
	}
}

// warnValueTarget warns about a total with a target of type Value. The HPA multiplies it by the ready pods, whose number it has set itself.
func (t *explainer) warnValueTarget(i int) {
	m, f := &t.s.Spec.Metrics[i], t.s.Metrics[i].Forecast
	if m.Type != hpa.Value {
		return
	}
	total := "if " + m.Name
	if f != nil && f.Missing == "" {
		total = m.Name
	}
	text := total + " is a total. A target of type Value multiplies it by the number of ready pods, which the HPA itself increases"
	if line := &t.Metrics[i]; line.Ratio != nil && *line.Ratio > 1 && !line.WithinTolerance && t.s.Scale.Ready > 0 {
		next := ceilReplicas(*line.Ratio * float64(t.s.Scale.Ready))
		text += fmt.Sprintf(": the same %s asks for %d now, for %d when those are ready, and so on to maxReplicas %d",
			formatNumber(*line.Value), next, ceilReplicas(*line.Ratio*float64(next)), t.s.Spec.Max)
	}
	advice := "write type: AverageValue, with what one replica sustains as the averageValue"
	if t.s.Scaler.Scales {
		advice = "write metricType: AverageValue in the trigger, with what one replica sustains as its target"
	}
	t.warn(ValueTargetCompounds, advice, "%s", text)
}

// warnForecastHealth warns about problems of the Forecast behind a metric.
func (t *explainer) warnForecastHealth(i int) {
	f := t.s.Metrics[i].Forecast
	if f == nil || f.Missing != "" {
		return
	}
	switch {
	case f.State == snapshot.Warming:
		t.warn(HistoryTooShort, "wait, or use a source with a longer history",
			"Forecast %s has less than a season of history: %s", f.Name, f.ReadyMessage)
	case f.State == snapshot.FallingBack:
		t.warn(ForecastFallingBack, "check the history source: the condition SourceHealthy of the Forecast",
			"Forecast %s serves the running maximum of the observed demand, which does not look ahead: %s",
			f.Name, f.ReadyMessage)
	case !f.State.Serves():
		t.warn(ForecastNotServing, "kubectl describe forecast "+f.Name,
			"Forecast %s is %s and serves nothing, so the HPA keeps its replicas: %s", f.Name, f.State, f.ReadyMessage)
	}
	if f.Saturated != "" {
		const advice = "use a signal that still rises when the service is full (arrivals, running + waiting), or raise " +
			"maxReplicas"
		t.warn(DemandSaturated, advice, "the demand of Forecast %s is known only as a lower bound: %s",
			f.Name, f.Saturated)
	}
}

// warnReplicaLimits compares minReplicas and maxReplicas with the requested and the forecast replicas.
func (t *explainer) warnReplicaLimits() {
	const more = "raise maxReplicas, if GPUs are available"
	for i := range t.s.Spec.Metrics {
		m, f := &t.s.Spec.Metrics[i], t.s.Metrics[i].Forecast
		switch asks := t.Metrics[i].Proposes; {
		case f != nil && f.Missing == "" && m.Type == hpa.AverageValue && !math.IsNaN(f.Served):
			t.warnMinReplicas(m, f)
			t.warnMaxReplicas(m, f, more)
		case t.s.Metrics[i].spare() != nil: // A consumer need not use all of the spare GPUs.
		case asks != nil && *asks > t.s.Spec.Max:
			t.warn(MaxReplicasReached, more, "%s asks for %s, and maxReplicas is %d: the remaining demand waits",
				m.Name, replicas(*asks), t.s.Spec.Max)
		}
	}
}

// warnMinReplicas warns if minReplicas are enough for everything that the Forecast serves in a day.
func (t *explainer) warnMinReplicas(m *hpa.Metric, f *Forecast) {
	each := float64(m.Target) / 1000
	least, day := each*float64(t.s.Spec.Min), series.MaxKnown(f.Served, f.Peak, f.Highest)
	if t.s.Spec.Min <= 1 || day > least {
		return
	}
	advice := fmt.Sprintf("lower minReplicas: %d would have been enough for the last day", ceilReplicas(day/each))
	t.warn(MinReplicasHideForecast, advice, "minReplicas %d × %s = %s is never below the values of Forecast %s "+
		"(at most %s in the last day and in the forecast ahead), so the HPA never follows the forecast", t.s.Spec.Min,
		formatNumber(each), formatNumber(least), f.Name, withUnit(day, f.Unit))
}

// warnMaxReplicas warns if maxReplicas are too few for the Forecast.
func (t *explainer) warnMaxReplicas(m *hpa.Metric, f *Forecast, advice string) {
	each := float64(m.Target) / 1000
	most, high := each*float64(t.s.Spec.Max), series.MaxKnown(f.Served, f.Peak)
	switch {
	case f.AtMaxReplicas != "":
		t.warn(MaxReplicasCutForecast, advice, "maxReplicas %d prevents Forecast %s from meeting its objective: %s",
			t.s.Spec.Max, f.Name, f.AtMaxReplicas)
	case high > most:
		t.warn(MaxReplicasCutForecast, advice,
			"maxReplicas %d × %s = %s is less than the %s that Forecast %s expects: %d replicas are needed",
			t.s.Spec.Max, formatNumber(each), formatNumber(most), withUnit(high, f.Unit), f.Name,
			ceilReplicas(high/each))
	}
}

// Cover is a warm pool that stands ready for a Forecast: the lead time is that of starts on existing nodes.
type Cover struct {
	// Pool by name, in the HPA's namespace, and since when it covers.
	Pool  string
	Since time.Time
	// Starts are the target's pods that were created since, within the last day at most, and are there yet; Waited are those
	// of them that waited for a node, Waiting those that still do. Waiting ones have Waited, too.
	Starts, Waited, Waiting int
}

// oneInMayWait says that one in ten starts may wait, because the lead time of a covered Forecast is a 0.9 quantile.
const oneInMayWait = 10

// warnUncovered warns about a pool that covers a Forecast although its starts still wait for nodes.
func (t *explainer) warnUncovered(i int) {
	f := t.s.Metrics[i].Forecast
	if f == nil || f.Cover == nil || f.Cover.Waited*oneInMayWait <= f.Cover.Starts {
		return
	}
	c, still := f.Cover, ""
	if c.Waiting > 0 {
		still = fmt.Sprintf(" (%d still waiting)", c.Waiting)
	}
	advice := "kubectl describe warmpool " + c.Pool + ": it holds too little (max, budget, quantile), or the pods do " +
		"not fit its chunks"
	since := c.from(t.s.Now).UTC().Format("2006-01-02 15:04 UTC")
	t.warn(CoveredStartsWait, advice, "warm pool %s covers Forecast %s, so the Forecast looks ahead by the lead time "+
		"on available nodes (%s), but %d of the %d pods created since %s waited for a node%s",
		c.Pool, f.Name, humanize.Span(f.Lead), c.Waited, c.Starts, since, still)
}

// from returns the time from which starts count.
func (c *Cover) from(now time.Time) time.Time {
	if day := now.Add(-24 * time.Hour); c.Since.Before(day) {
		return day
	}
	return c.Since
}

// Counts reports whether a pod's start counts for a Cover at a time.
func (c *Cover) Counts(created, now time.Time) bool { return !created.Before(c.from(now)) }

// conditions adds what to check for each condition of the HPA that is false.
func (t *explainer) conditions() {
	for _, kind := range []string{"AbleToScale", hpa.ScalingActive} {
		c, there := t.s.Live.Condition(kind)
		if !there || c.True {
			continue
		}
		t.warn(c.Reason, conditionAdvice(&c), "the HPA reports %s=False: %s", c.Type, c.Message)
	}
}

// conditionAdvice is what to check for a condition that is false.
func conditionAdvice(c *hpa.Condition) string {
	const (
		external = "external.metrics.k8s.io"
		custom   = "custom.metrics.k8s.io"
	)
	switch c.Reason {
	case "FailedGetExternalMetric":
		return metricAdvice(c.Message, external)
	case "FailedGetPodsMetric":
		if strings.Contains(c.Message, "could not find the metric") {
			return "kubectl get apiservices | grep " + custom + ": Forewarm does not serve Pods metrics; if it holds " +
				"the group, see docs/hpa.md#with-prometheus-adapter-or-another-metrics-adapter"
		}
		return metricAdvice(c.Message, custom)
	case "FailedGetObjectMetric":
		return metricAdvice(c.Message, custom)
	case "FailedGetResourceMetric", "FailedGetContainerResourceMetric":
		return "check that metrics-server runs (kubectl top pods), and that the containers have resource requests"
	case string(hpa.ScalingDisabled):
		return "the target is at 0 replicas, and the HPA did not scale it there: scale it to 1 (kubectl scale --replicas=1), or let KEDA activate it"
	case "FailedGetScale":
		return "check spec.scaleTargetRef: its apiVersion, kind and name, and that the kind has a scale sub-resource"
	case "FailedUpdateScale":
		return "the API server refuses to scale the target: check the target's events and the admission policies"
	case "InvalidSelector", "AmbiguousSelector":
		return "give the pods of the target labels that no other HPA's target selects"
	}
	return "see its events: kubectl describe hpa"
}

// metricAdvice depends on the error message of the metrics API.
func metricAdvice(message, group string) string {
	switch {
	case strings.Contains(message, "scaledObject name is not specified"):
		return "KEDA owns " + group + " and knows only its own metrics: use KEDA's external trigger, or an Object metric"
	case strings.Contains(message, "could not find the requested resource"),
		strings.Contains(message, "no matches for kind"), strings.Contains(message, "no known available metric versions"):
		return group + " is not served: kubectl get apiservices | grep metrics"
	case strings.Contains(message, "unable to handle the request"), strings.Contains(message, "Unavailable"):
		return "the server of " + group + " does not answer: kubectl get apiservices | grep metrics"
	case strings.Contains(message, "forbidden"):
		return "the HPA controller is not allowed to read " + group + ": its cluster role is missing"
	case strings.Contains(message, "not found"), strings.Contains(message, "NotFound"):
		return "check the metric's name and namespace: kubectl get forecasts, or what your adapter serves"
	}
	return "read the metric directly: kubectl get --raw /apis/" + group
}
