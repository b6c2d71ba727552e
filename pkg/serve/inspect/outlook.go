package inspect

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/classify"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Outlook is the entry as the API shows it at the time now, which decides whether its data is still good to serve.
func Outlook(e *snapshot.Entry, now time.Time) v1alpha1.Outlook {
	return v1alpha1.Outlook{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: v1alpha1.Kind},
		ObjectMeta: objectMeta(e, now),
		Status:     status(e, now),
	}
}

func objectMeta(e *snapshot.Entry, now time.Time) metav1.ObjectMeta {
	labels := map[string]string{v1alpha1.LabelState: string(e.StateAt(now))}
	further := map[string]string{v1alpha1.LabelModel: strings.ReplaceAll(e.Model, " ", "-")}
	if e.Outcome != nil {
		further[v1alpha1.LabelObjective] = string(e.Outcome.Verdict)
	}
	for name, value := range further {
		if value != "" && len(validation.IsValidLabelValue(value)) == 0 {
			labels[name] = value
		}
	}
	return metav1.ObjectMeta{Namespace: e.Key.Namespace, Name: e.Key.Name, Generation: e.Generation, Labels: labels}
}

func status(e *snapshot.Entry, now time.Time) v1alpha1.OutlookStatus {
	lead := metav1.Duration{Duration: e.Lead}
	s := v1alpha1.OutlookStatus{
		State:       string(e.StateAt(now)),
		Conditions:  each(e.Conditions, condition),
		Observed:    finite(&e.Observed),
		Unit:        e.Unit,
		Window:      metav1.Duration{Duration: e.Window},
		LeadTime:    v1alpha1.LeadTime{Duration: lead, Source: e.LeadSource, WarmPool: e.LeadPool},
		Serve:       string(cmp.Or(e.Policy.Mode, decide.Floor)),
		Step:        metav1.Duration{Duration: e.Step},
		Workload:    e.Workload,
		Model:       e.Model,
		PathModel:   e.PathModel,
		ModelReason: e.ModelReason(),
		Skill:       finite(&e.Skill),
		Coverage:    finite(&e.Coverage),
		Fallbacks:   int64(min(e.Fallbacks, math.MaxInt64)),
		Outcome:     outcomeOf(e),
		Candidates:  candidates(e),
		Path:        path(e.Path),
		Past:        each(e.Past, past),
		Recent:      recent(e),
		Repairs:     each(e.Repairs, repaired),
	}
	if !e.SampleTime.IsZero() {
		s.SampleTime = new(utc(e.SampleTime))
	}
	setServed(&s, e, now)
	return s
}

// setServed says what the metrics APIs answer now, or why they do not.
func setServed(s *v1alpha1.OutlookStatus, e *snapshot.Entry, now time.Time) {
	answer, err := e.Answer(decide.Selection{}, now)
	if err != nil {
		s.Reason = strings.TrimPrefix(err.Error(), snapshot.ErrNotServing.Error()+": ")
	} else {
		s.Reason, s.Served = e.Decision.Reason(), finite(&answer.Value)
	}
	switch {
	case e.State == snapshot.Invalid || e.State == snapshot.FallingBack:
		// No policy was read, or nothing that was asked rules.
	case e.Policy.ByOutcome() && e.Policy.CostRatio > 0:
		s.CostRatio = finite(&e.Policy.CostRatio)
	case e.Policy.ByOutcome():
		s.Late = finite(&e.Policy.Late)
	default:
		level := e.Policy.Level()
		s.Quantile = finite(&level)
	}
}

// each is what the API shows of each of a slice.
func each[T, U any](in []T, show func(*T) U) []U {
	out := make([]U, len(in))
	for i := range in {
		out[i] = show(&in[i])
	}
	return out
}

func utc(t time.Time) metav1.Time { return metav1.Time{Time: t.UTC()} }

func condition(c *snapshot.Condition) v1alpha1.Condition {
	out := v1alpha1.Condition{Type: c.Type, Status: metav1.ConditionFalse, Reason: c.Reason, Message: c.Message}
	if c.True {
		out.Status = metav1.ConditionTrue
	}
	return out
}

func candidates(e *snapshot.Entry) []v1alpha1.Candidate {
	levels := names(windowpeak.Levels())
	window := func(w *windowpeak.Window) v1alpha1.Window {
		horizon := metav1.Duration{Duration: w.Horizon}
		return v1alpha1.Window{Horizon: horizon, Quantiles: quantiles(levels, w.Quantiles[:])}
	}
	return each(e.Candidates, func(c *snapshot.Candidate) v1alpha1.Candidate {
		return v1alpha1.Candidate{
			Name: c.Name, Title: c.Title, Chosen: c.Name == e.Model, Free: c.Free, Error: c.Error,
			Loss: finite(&c.Loss), Skill: finite(&c.Skill), Coverage: finite(&c.Coverage),
			Windows: each(c.Windows, window),
		}
	})
}

func path(in []snapshot.PathStep) []v1alpha1.PathStep {
	probabilities := snapshot.PathLevels()
	levels := names(probabilities[:])
	return each(in, func(p *snapshot.PathStep) v1alpha1.PathStep {
		return v1alpha1.PathStep{
			Time: utc(p.Time), Point: finite(&p.Point), Quantiles: quantiles(levels, p.Quantiles[:]),
		}
	})
}

func past(p *snapshot.Past) v1alpha1.PastForecast {
	return v1alpha1.PastForecast{Time: utc(p.Time), Forecast: finite(&p.Forecast), Observed: finite(&p.Observed)}
}

func recent(e *snapshot.Entry) []v1alpha1.Sample {
	out := make([]v1alpha1.Sample, e.Recent.Len())
	for i := range out {
		out[i] = v1alpha1.Sample{Time: utc(e.Recent.TimeAt(i)), Observed: finite(&e.Recent.Values[i])}
	}
	return out
}

func repaired(span *classify.Span) v1alpha1.Repair {
	return v1alpha1.Repair{
		From: utc(span.From), To: utc(span.To), Kind: span.Cause.Kind().String(), Why: span.Cause.String(),
		Samples: int32(min(span.Samples, math.MaxInt32)), //nolint:gosec // It is bounded.
	}
}

// names are levels as JSON keys.
func names(levels []float64) []string {
	out := make([]string, len(levels))
	for i, level := range levels {
		out[i] = strconv.FormatFloat(level, 'g', -1, 64)
	}
	return out
}

// quantiles are those that are finite, by the name of their level.
func quantiles(names []string, values []float64) map[string]float64 {
	out := make(map[string]float64, len(names))
	for i, name := range names {
		if finite(&values[i]) != nil {
			out[name] = values[i]
		}
	}
	return out
}

// finite is the number in its place (entries never change), or nil where it is none that JSON can carry.
func finite(v *float64) *float64 {
	if math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	return v
}
