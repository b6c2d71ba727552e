package explain

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/trailing"
)

// The reasons of warnings.
const (
	ValueTargetCompounds    = "ValueTargetCompounds"
	NegativeMetric          = "NegativeMetric"
	ToleranceDeadBand       = "ToleranceDeadBand"
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
	MetricNotExplained      = "MetricNotExplained"
)

// warnings are what does harm, what matters most first.
func (t *telling) warnings() {
	t.conditions()
	t.rivals()
	for i := range t.s.Spec.Metrics {
		t.negative(i)
		t.compounds(i)
		t.health(i)
		t.uncovered(i)
	}
	t.rise()
	t.bounds()
	t.deadBand()
	t.scaleDown()
	for _, f := range t.s.Foreign {
		t.notComputed(&f)
	}
}

// notComputed is a metric whose proposal only the HPA knows.
func (t *telling) notComputed(f *Foreign) {
	advice, why := "look at the pods themselves: kubectl top pods", f.Why
	switch {
	case f.Why != "":
		advice = "explain the HPA that KEDA makes, in the cluster"
	case f.Current == "":
		why = fmt.Sprintf("it reads single pods (target %s), and there is no status with its value", f.Target)
	default:
		why = fmt.Sprintf("it reads single pods; by the HPA's status it is %s (target %s)", f.Current, f.Target)
	}
	t.warn(MetricNotExplained, advice, "%s %s is not computed here, and may ask for more: %s", f.Type, f.Name, why)
}

// rivals are others that write the same replicas.
func (t *telling) rivals() {
	if t.s.Owner != "" {
		t.warn(OwnedByKEDA, "change the ScaledObject", "KEDA makes this HPA of ScaledObject %s, and undoes what is "+
			"changed in it; between 0 and 1 replicas KEDA scales by itself", t.s.Owner)
	}
	if len(t.s.Rivals) > 0 {
		t.warn(SeveralAutoscalers, "keep one, with the metrics of all: the largest proposal wins",
			"%s is scaled by %s as well: each undoes what the other does", t.s.Target, list(t.s.Rivals))
	}
}

// negative is a sum that the controller takes for an overflow.
func (t *telling) negative(i int) {
	m := &t.s.Spec.Metrics[i]
	for _, v := range t.s.Metrics[i].Reading.Values {
		if v < 0 && m.Source == hpa.External && m.Type == hpa.AverageValue {
			t.warn(NegativeMetric, "mend the query, for example by clamp_min(…, 0)",
				"%s is negative (%s): the controller takes that for an overflow and scales to maxReplicas",
				m.Name, milli(v))
		}
	}
}

// compounds: a total with a target of type Value is multiplied by the ready pods, which it has made itself.
func (t *telling) compounds(i int) {
	m, f := &t.s.Spec.Metrics[i], t.s.Metrics[i].Forecast
	if m.Type != hpa.Value {
		return
	}
	total := "if " + m.Name
	if f != nil && f.Missing == "" {
		total = m.Name
	}
	text := total + " is a total, a target of type Value multiplies it by the pods that its own replicas made ready"
	if line := &t.Metrics[i]; line.Ratio != nil && *line.Ratio > 1 && !line.WithinTolerance && t.s.Scale.Ready > 0 {
		next := ceil(*line.Ratio * float64(t.s.Scale.Ready))
		text += fmt.Sprintf(": the same %s asks for %d now, for %d when those are ready, and so on to maxReplicas %d",
			number(*line.Value), next, ceil(*line.Ratio*float64(next)), t.s.Spec.Max)
	}
	t.warn(ValueTargetCompounds, "write type: AverageValue, with averageValue what one replica sustains", "%s", text)
}

// health is that of the Forecast behind a metric.
func (t *telling) health(i int) {
	f := t.s.Metrics[i].Forecast
	if f == nil || f.Missing != "" {
		return
	}
	switch {
	case f.State == snapshot.Warming:
		t.warn(HistoryTooShort, "wait, or point forewarm at a source with an older history",
			"Forecast %s knows less than a season of its demand: %s", f.Name, f.Ready)
	case f.State == snapshot.FallingBack:
		t.warn(ForecastFallingBack, "look at the history source: the condition SourceHealthy of the Forecast",
			"Forecast %s serves the running maximum of the observed demand, which sees nothing coming: %s",
			f.Name, f.Ready)
	case !f.State.Serves():
		t.warn(ForecastNotServing, "kubectl describe forecast "+f.Name,
			"Forecast %s is %s and serves nothing, so that the HPA keeps what it has: %s", f.Name, f.State, f.Ready)
	}
	if f.Saturated != "" {
		const advice = "take a signal that goes on rising when the service is full (arrivals, running + waiting), or raise " +
			"maxReplicas"
		t.warn(DemandSaturated, advice, "the demand of Forecast %s is known only as a lower bound: %s",
			f.Name, f.Saturated)
	}
}

// bounds are minReplicas and maxReplicas against what is asked for and forecast.
func (t *telling) bounds() {
	const more = "raise maxReplicas, if there are the GPUs"
	for i := range t.s.Spec.Metrics {
		m, f := &t.s.Spec.Metrics[i], t.s.Metrics[i].Forecast
		switch asks := t.Metrics[i].Proposes; {
		case f != nil && f.Missing == "" && m.Type == hpa.AverageValue && !math.IsNaN(f.Served):
			t.hidden(m, f)
			t.cut(m, f, more)
		case asks != nil && *asks > t.s.Spec.Max:
			t.warn(MaxReplicasReached, more, "%s asks for %s, and maxReplicas is %d: the rest of it waits",
				m.Name, replicas(*asks), t.s.Spec.Max)
		}
	}
}

// hidden says where minReplicas carry all that the Forecast ever says. At night they may.
func (t *telling) hidden(m *hpa.Metric, f *Forecast) {
	each := float64(m.Target) / 1000
	least, day := each*float64(t.s.Spec.Min), trailing.Most(f.Served, f.Peak, f.Highest)
	if t.s.Spec.Min <= 1 || day > least {
		return
	}
	advice := fmt.Sprintf("lower minReplicas: %d would have carried the last day", ceil(day/each))
	t.warn(MinReplicasHideForecast, advice, "minReplicas %d × %s = %s is never below Forecast %s: %s is the most of "+
		"the last day and of the path ahead, so the HPA never follows it",
		t.s.Spec.Min, number(each), number(least), f.Name, of(day, f.Unit))
}

// cut says where maxReplicas do not carry what the Forecast has within reach.
func (t *telling) cut(m *hpa.Metric, f *Forecast, advice string) {
	each := float64(m.Target) / 1000
	most, high := each*float64(t.s.Spec.Max), trailing.Most(f.Served, f.Peak)
	switch {
	case f.AtMax != "":
		t.warn(MaxReplicasCutForecast, advice, "maxReplicas %d keeps the objective of Forecast %s from being met: %s",
			t.s.Spec.Max, f.Name, f.AtMax)
	case high > most:
		t.warn(MaxReplicasCutForecast, advice, "maxReplicas %d × %s = %s is less than the %s that Forecast %s has "+
			"within reach: %d replicas would carry it", t.s.Spec.Max, number(each), number(most), of(high, f.Unit),
			f.Name, ceil(high/each))
	}
}
