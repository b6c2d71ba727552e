package explain

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// explainer builds an Explanation.
type explainer struct {
	*Explanation

	s   *Input
	out hpa.SyncResult
}

// Explain returns what an HPA computes at its next sync, and why. Its errors are those of the spec or of the Input.
func Explain(s *Input) (*Explanation, error) {
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("explain %s: %w", s.HPA, err)
	}
	t := &explainer{s: s, Explanation: &Explanation{
		HPA: s.HPA, Target: s.Target, Replicas: s.Scale.Replicas, Sentences: []string{}, Warnings: []Warning{},
		AtLeast: len(s.Uncomputed) > 0, Unknown: s.Unknown,
	}}
	t.describeScale()
	if len(s.Spec.Metrics) > 0 {
		if err := t.compute(); err != nil {
			return nil, fmt.Errorf("explain %s: %w", s.HPA, err)
		}
	}
	t.addUncomputed()
	t.compareWithStatus()
	t.warnings()
	return t.Explanation, nil
}

func (t *explainer) say(format string, args ...any) {
	t.Sentences = append(t.Sentences, fmt.Sprintf(format, args...))
}

func (t *explainer) warn(reason, advice, format string, args ...any) {
	t.Warnings = append(t.Warnings, Warning{Reason: reason, Advice: advice, Message: fmt.Sprintf(format, args...)})
}

// describeScale describes the scale before any metric.
func (t *explainer) describeScale() {
	there := ""
	if e := t.s.Scale.Existing; e != t.s.Scale.Replicas {
		there = fmt.Sprintf(" (%d exist)", e)
	}
	t.say("%s is scaled to %s%s; %d to %d replicas are allowed.",
		t.s.Target, replicas(t.s.Scale.Replicas), there, t.s.Spec.Min, t.s.Spec.Max)
}

// compute simulates the next sync and explains each stage.
func (t *explainer) compute() error {
	c, err := t.s.controller()
	if err != nil {
		return err
	}
	t.out = c.Sync(t.s.Now, t.s.observed())
	desired := t.out.Replicas
	t.Desired = &desired
	t.proposals()
	switch {
	case t.out.Active == hpa.ScalingDisabled && t.s.Scaler.Scales:
		t.activation()
		return nil
	case t.out.Active == hpa.ScalingDisabled:
		t.say("At 0 replicas the HPA does nothing (ScalingDisabled). Scale the target to 1, or let KEDA activate it.")
	case t.out.Active == hpa.FailedGetMetric:
		t.describeUnread()
	case t.out.Active == "" && t.out.Replicas > t.s.Scale.Replicas:
		t.say("%s are below minReplicas: the next sync asks for %d, whatever the metrics say.",
			replicas(t.s.Scale.Replicas), t.out.Replicas)
	case t.out.Active == "":
		t.say("%s are above maxReplicas: the next sync asks for %d, whatever the metrics say.",
			replicas(t.s.Scale.Replicas), t.out.Replicas)
	default:
		t.decision()
	}
	if t.s.Paused != "" {
		t.pause()
		return nil
	}
	settles := t.s.settle(c, desired)
	t.Settles = &settles
	t.conclusion()
	if t.s.Scaler.Scales && t.s.Scaler.Idle < t.s.Spec.Min && !t.isActive() {
		t.say(
			"No trigger is above its activation value: KEDA scales to %s after its cooldownPeriod (5 minutes by default).",
			replicas(t.s.Scaler.Idle),
		)
	}
	return nil
}

// isActive reports whether a trigger's value is above its activation.
func (t *explainer) isActive() bool {
	for i, line := range t.Metrics[:len(t.s.Scaler.Activation)] {
		if line.Value != nil && *line.Value > t.s.Scaler.Activation[i] {
			return true
		}
	}
	return false
}

// activation explains what KEDA does at 0 replicas, where the HPA does nothing.
func (t *explainer) activation() {
	if !t.isActive() {
		t.say(
			"At 0 replicas the HPA does nothing. KEDA scales the workload up as soon as a trigger's value is above its " +
				"activation value. Currently none is.",
		)
		return
	}
	active := t.s.Spec.Min
	t.Desired = &active
	t.say(
		"At 0 replicas the HPA does nothing. A trigger's value is above its activation value, so KEDA scales the workload to %s. "+
			"Then the HPA takes over.",
		replicas(active),
	)
}

// pause replaces the result by the replicas that KEDA keeps while the object is paused.
func (t *explainer) pause() {
	kept, without := t.s.Scale.Replicas, *t.Desired
	if t.s.PausedAt != nil {
		kept = *t.s.PausedAt
	}
	t.Desired = &kept
	t.say(
		"KEDA is paused by the annotation %.128s and keeps %s. Without the annotation, the next sync would ask for %d.",
		t.s.Paused,
		replicas(kept),
		without,
	)
}

// proposals adds the proposal of each metric, even if the controller would not have evaluated it.
func (t *explainer) proposals() {
	o := t.s.observed()
	for i := range t.s.Spec.Metrics {
		p := t.s.Spec.Propose(&t.s.Spec.Metrics[i], &o, t.s.Metrics[i].Reading)
		t.Metrics = append(t.Metrics, t.metricLine(i, &p))
		t.say("%s", t.proposal(i, &p))
		if f := t.s.Metrics[i].Forecast; f != nil {
			t.say("%s", f.sentence())
		} else if of := t.s.Metrics[i].spare(); of != nil {
			t.say("It is how many replicas of the consumer %s of GPUFleet %s may run now, including those that run.",
				of.Batch, of.Fleet)
		}
	}
	if i := t.out.Metric; i >= 0 && len(t.s.Spec.Metrics) > 1 {
		t.Metrics[i].Decides = true
		t.say("The highest of %d proposals wins: %s, %s.",
			len(t.s.Spec.Metrics), t.s.Spec.Metrics[i].Name, replicas(t.out.Proposed))
	} else if i >= 0 {
		t.Metrics[i].Decides = true
	}
}

// describeUnread explains the effect of metrics that cannot be read.
func (t *explainer) describeUnread() {
	if t.out.Proposed == 0 || len(t.Metrics) == 1 {
		t.say("Without a metric the HPA keeps the current number of replicas.")
		return
	}
	t.say(
		"If a metric cannot be read, the HPA scales up on the other metrics, but never down. The other metrics ask for %d replicas, "+
			"which is not more than there are now.",
		t.out.Proposed,
	)
}

// conclusion sets the resulting number of replicas.
func (t *explainer) conclusion() {
	from, to := t.s.Scale.Replicas, *t.Desired
	least := ""
	if t.AtLeast {
		least = ", or more if the metrics that are not computed ask for it"
	}
	if from == to {
		t.say("The next sync leaves it at %s%s.", replicas(to), least)
	} else {
		t.say("The next sync goes from %d to %s%s.", from, replicas(to), least)
	}
	switch after := t.Settles; {
	case after.Open:
		t.say(
			"If the values stay the same, the HPA reaches %s after %s and has not settled by then.",
			replicas(after.Replicas),
			humanize.Span(settleLimit),
		)
	case after.Replicas != to:
		t.say("If the values stay the same, the HPA settles at %s after another %s (it syncs every %s).",
			replicas(after.Replicas), humanize.Span(seconds(after.Seconds)), humanize.Span(syncPeriod))
	}
}

// metricLine returns the row of a metric in the table.
func (t *explainer) metricLine(i int, p *hpa.Proposal) MetricLine {
	m, known := &t.s.Spec.Metrics[i], &t.s.Metrics[i]
	l := MetricLine{
		Name: m.Name, Type: string(m.Source), Target: formatTarget(m), From: known.From,
		WithinTolerance: p.WithinTolerance,
	}
	if known.Forecast != nil {
		l.Forecast = known.Forecast.Name
	}
	if v := t.s.Metrics[i].InStatus; v != nil {
		l.Live = formatMilli(*v)
		if m.Type == hpa.AverageValue {
			l.Live += " per replica"
		}
	}
	if p.Err != nil {
		l.Error = p.Err.Error()
		return l
	}
	value := float64(p.Total) / 1000
	l.Value, l.Proposes = &value, &p.Replicas
	if !math.IsNaN(p.Ratio) && !math.IsInf(p.Ratio, 0) {
		l.Ratio = &p.Ratio
	}
	return l
}

func formatTarget(m *hpa.Metric) string {
	if m.Type == hpa.AverageValue {
		return formatMilli(m.Target) + " per replica"
	}
	return formatMilli(m.Target) + " in total"
}

// addUncomputed adds the metrics that are not computed.
func (t *explainer) addUncomputed() {
	for _, f := range t.s.Uncomputed {
		l := MetricLine{Name: f.Name, Type: f.Type, Target: f.Target, Live: f.Current, From: statusOf}
		if f.Current == "" {
			l.From = ""
		}
		t.Metrics = append(t.Metrics, l)
	}
}

// statusOf is the name of the HPA's own status as a source.
const statusOf = "the HPA's status"
