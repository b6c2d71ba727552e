package explain

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// telling is an explanation that is being made.
type telling struct {
	*Explanation

	s   *Situation
	out hpa.Outcome
}

// Explain says what an HPA computes at its next sync, and why. It returns what is wrong with the spec, or with the
// situation, where nothing can be computed of it.
func Explain(s *Situation) (*Explanation, error) {
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("explain %s: %w", s.HPA, err)
	}
	t := &telling{s: s, Explanation: &Explanation{
		HPA: s.HPA, Target: s.Target, Replicas: s.Scale.Replicas, Sentences: []string{}, Warnings: []Warning{},
		AtLeast: len(s.Foreign) > 0, Unknown: s.Unknown,
	}}
	t.opening()
	if len(s.Spec.Metrics) > 0 {
		if err := t.compute(); err != nil {
			return nil, fmt.Errorf("explain %s: %w", s.HPA, err)
		}
	}
	t.foreign()
	t.compare()
	t.warnings()
	return t.Explanation, nil
}

func (t *telling) say(format string, args ...any) {
	t.Sentences = append(t.Sentences, fmt.Sprintf(format, args...))
}

func (t *telling) warn(reason, advice, format string, args ...any) {
	t.Warnings = append(t.Warnings, Warning{Reason: reason, Advice: advice, Message: fmt.Sprintf(format, args...)})
}

// opening says what there is before any metric.
func (t *telling) opening() {
	there := ""
	if e := t.s.Scale.Existing; e != t.s.Scale.Replicas {
		there = fmt.Sprintf(" (%d exist)", e)
	}
	t.say("%s is asked for %s%s; %d to %d are allowed.",
		t.s.Target, replicas(t.s.Scale.Replicas), there, t.s.Spec.Min, t.s.Spec.Max)
}

// compute plays the next sync and tells it station by station.
func (t *telling) compute() error {
	c, err := t.s.controller()
	if err != nil {
		return err
	}
	t.out = c.Sync(t.s.Now, t.s.observed())
	desired := t.out.Replicas
	t.Desired = &desired
	t.proposals()
	switch {
	case t.out.Active == hpa.ScalingDisabled:
		t.say("At 0 replicas the HPA does nothing (ScalingDisabled): whoever scaled the target to 0 has to wake it.")
	case t.out.Active == hpa.FailedGetMetric:
		t.unread()
	case t.out.Active == "" && t.out.Replicas > t.s.Scale.Replicas:
		t.say("%s are below minReplicas: the next sync asks for %d, whatever the metrics say.",
			replicas(t.s.Scale.Replicas), t.out.Replicas)
	case t.out.Active == "":
		t.say("%s are above maxReplicas: the next sync asks for %d, whatever the metrics say.",
			replicas(t.s.Scale.Replicas), t.out.Replicas)
	default:
		t.decision()
	}
	settles := t.s.settle(c, desired)
	t.Settles = &settles
	t.conclusion()
	return nil
}

// proposals are those of each metric, also where the controller would not have looked at them.
func (t *telling) proposals() {
	o := t.s.observed()
	for i := range t.s.Spec.Metrics {
		p := t.s.Spec.Propose(&t.s.Spec.Metrics[i], &o, t.s.Metrics[i].Reading)
		t.Metrics = append(t.Metrics, t.line(i, &p))
		t.say("%s", t.proposal(i, &p))
		if f := t.s.Metrics[i].Forecast; f != nil {
			t.say("%s", f.sentence())
		}
	}
	if i := t.out.Metric; i >= 0 && len(t.s.Spec.Metrics) > 1 {
		t.Metrics[i].Decides = true
		t.say("Of %d metrics the one that asks for the most counts: %s, %s.",
			len(t.s.Spec.Metrics), t.s.Spec.Metrics[i].Name, replicas(t.out.Proposed))
	} else if i >= 0 {
		t.Metrics[i].Decides = true
	}
}

// unread says what metrics without an answer do.
func (t *telling) unread() {
	if t.out.Proposed == 0 || len(t.Metrics) == 1 {
		t.say("Without a metric the HPA keeps what it has.")
		return
	}
	t.say("Where not all metrics can be read the HPA scales up by the others but never down: their %d are no more "+
		"than there are.", t.out.Proposed)
}

// conclusion is the figure.
func (t *telling) conclusion() {
	from, to := t.s.Scale.Replicas, *t.Desired
	least := ""
	if t.AtLeast {
		least = ", or more where the metrics that are not computed ask for it"
	}
	if from == to {
		t.say("So the next sync leaves it at %s%s.", replicas(to), least)
	} else {
		t.say("So the next sync goes from %d to %s%s.", from, replicas(to), least)
	}
	switch after := t.Settles; {
	case after.Open:
		t.say("If the readings stay it is at %s after %s, and still moving.", replicas(after.Replicas),
			humanize.Span(furthest))
	case after.Replicas != to:
		t.say("If the readings stay it ends at %s, after %s more (a sync every %s).",
			replicas(after.Replicas), humanize.Span(seconds(after.Seconds)), humanize.Span(period))
	}
}

// line is a metric in the table.
func (t *telling) line(i int, p *hpa.Proposal) Line {
	m, known := &t.s.Spec.Metrics[i], &t.s.Metrics[i]
	l := Line{Name: m.Name, Type: string(m.Source), Target: target(m), From: known.From, WithinTolerance: p.Within}
	if known.Forecast != nil {
		l.Forecast = known.Forecast.Name
	}
	if v := t.s.Live.reading(i); v != nil {
		l.Live = milli(*v)
		if m.Type == hpa.AverageValue {
			l.Live += " a replica"
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

func target(m *hpa.Metric) string {
	if m.Type == hpa.AverageValue {
		return milli(m.Target) + " a replica"
	}
	return milli(m.Target) + " in all"
}

func (l *Live) reading(i int) *int64 {
	if l == nil || i >= len(l.Readings) {
		return nil
	}
	return l.Readings[i]
}

// foreign are the metrics that are not computed.
func (t *telling) foreign() {
	for _, f := range t.s.Foreign {
		l := Line{Name: f.Name, Type: f.Type, Target: f.Target, Live: f.Current, From: statusOf}
		if f.Current == "" {
			l.From = ""
		}
		t.Metrics = append(t.Metrics, l)
	}
}

// statusOf names the HPA's own status as a source.
const statusOf = "the HPA's status"
