package explain

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// warnSlowScaleUp compares how fast a Forecast's demand rises with how fast the HPA can follow. Replicas that are not requested a lead time
// ahead come late, even if the rise was forecast well.
func (t *explainer) warnSlowScaleUp() {
	if b := t.s.Spec.Behavior; b != nil && b.Up.Select == hpa.SelectDisabled {
		t.warn(ScaleUpDisabled, "remove behavior.scaleUp.selectPolicy: Disabled",
			"behavior.scaleUp.selectPolicy is Disabled: the HPA never scales up, whatever the forecast is")
		return
	}
	for i := range t.s.Spec.Metrics {
		t.warnSlowMetric(i)
	}
}

// warnSlowMetric does the comparison for one metric, with the forecast rise and with the steepest rise of the last day. If no Forecast says
// which rise is ahead, it uses the demand that the present replicas cannot carry.
func (t *explainer) warnSlowMetric(i int) {
	m, f := &t.s.Spec.Metrics[i], t.s.Metrics[i].Forecast
	if f == nil || f.Missing != "" {
		f = &Forecast{Name: m.Name, Served: math.NaN(), Lead: t.s.Lead, Steepest: Rise{math.NaN(), math.NaN()}}
		if value := t.Metrics[i].Value; value != nil {
			f.Observed, f.Served = float64(t.s.Scale.Existing)*float64(m.Target)/1000, *value
		}
	}
	if m.Type != hpa.AverageValue || f.Lead <= 0 {
		return
	}
	for _, r := range []struct {
		rise Rise
		when string
		from int32
	}{
		{Rise{f.Observed, f.Served}, "now", t.s.Scale.Existing},
		{f.Steepest, "as it happened in the last day", 0},
	} {
		if slow := t.describeSlow(m, f, r.rise, r.from); slow != "" {
			t.warn(ScaleUpSlowerThanRise, "allow the whole rise in one step in behavior.scaleUp, or remove "+
				"scaleUp: the default doubles the replicas at every sync",
				"a rise of %s from %s to %s within the lead time of %s, %s, needs %s", f.Name,
				formatNumber(r.rise.From), withUnit(r.rise.To, f.Unit), humanize.Span(f.Lead), r.when, slow)
			return
		}
	}
}

// describeSlow says how far the HPA's rules fall behind a rise. It is empty if they can follow within the lead time. If no number of
// replicas is given, it begins with the number that carries the demand at the beginning of the rise.
func (t *explainer) describeSlow(m *hpa.Metric, f *Forecast, r Rise, begin int32) string {
	each := float64(m.Target) / 1000
	if math.IsNaN(r.From) || math.IsNaN(r.To) || r.To <= r.From {
		return ""
	}
	if begin == 0 {
		begin = ceilReplicas(r.From / each)
	}
	begin = max(begin, t.s.Spec.Min, 1)
	needed := min(ceilReplicas(r.To/each), t.s.Spec.Max)
	got := t.s.reachable(begin, f.Lead)
	if got >= needed {
		return ""
	}
	rule := t.upRule()
	if b := t.s.Spec.Behavior; b != nil && b.Up.Stabilization > 0 {
		rule += ", held for " + humanize.Span(b.Up.Stabilization)
	}
	return fmt.Sprintf("%d replicas; starting from %d, the HPA can ask for no more than %d in that time (%s)",
		needed, begin, got, rule)
}

// warnDeadBand warns about rises that the tolerance hides.
func (t *explainer) warnDeadBand() {
	up, _ := t.s.Spec.Tolerances()
	for i := range t.s.Spec.Metrics {
		m, line := &t.s.Spec.Metrics[i], &t.Metrics[i]
		if m.Type != hpa.AverageValue || t.s.Scale.Existing < 1 || t.s.Metrics[i].spare() != nil {
			continue
		}
		there := float64(t.s.Scale.Existing)
		each := float64(m.Target) / 1000
		hidden := up * there
		wanted := int32(0)
		if line.WithinTolerance && line.Value != nil {
			wanted = ceilReplicas(*line.Value / each)
		}
		if hidden < 1 && wanted <= t.s.Scale.Existing {
			continue
		}
		text := fmt.Sprintf("with %s the HPA ignores a rise of %s by less than %s%%: it adds no replica until the "+
			"value is above %s, but %s sustain only %s", replicas(t.s.Scale.Existing), m.Name, formatNumber(100*up),
			formatNumber(each*there*(1+up)), replicas(t.s.Scale.Existing), formatNumber(each*there))
		if wanted > t.s.Scale.Existing {
			text += fmt.Sprintf("; the current value, %s, would need %d replicas", formatNumber(*line.Value), wanted)
		}
		t.warn(ToleranceDeadBand, `write behavior: {scaleUp: {tolerance: "0"}} (from Kubernetes 1.35 on)`, "%s", text)
		return
	}
}

// warnScaleDown warns that a dip of a reactive metric removes replicas, which come back late if the dip is shorter than a lead time. A
// value that looks ahead does not have such a dip.
func (t *explainer) warnScaleDown() {
	lead, window := t.s.lead(), t.s.Spec.DownStabilization()
	if lead == 0 || window >= lead || len(t.s.Spec.Metrics) == 0 {
		return
	}
	if b := t.s.Spec.Behavior; b != nil && b.Down.Select == hpa.SelectDisabled {
		return
	}
	for i := range t.s.Metrics {
		if f := t.s.Metrics[i].Forecast; f != nil && f.Missing == "" && (!f.Shadow || f.Paused) {
			return
		}
		if t.s.Metrics[i].spare() != nil {
			return
		}
	}
	advice := fmt.Sprintf("write behavior: {scaleDown: {stabilizationWindowSeconds: %d}}, or scale on a forecast, "+
		"which looks ahead", int(math.Ceil(min(lead, time.Hour).Seconds())))
	t.warn(ScaleDownBeforeLead, advice,
		"no metric looks ahead, and a scale-down waits for %s, less than the %s that a "+
			"new replica takes: after a short dip the demand returns before the replicas do", humanize.Span(window),
		humanize.Span(lead))
}
