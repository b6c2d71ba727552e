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
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/distribute"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Outlook is the entry in the API at the time now, which decides whether its data is stale.
func Outlook(e *snapshot.ForecastSnapshot, now time.Time) v1alpha1.Outlook {
	return v1alpha1.Outlook{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: v1alpha1.Kind},
		ObjectMeta: objectMeta(e, now),
		Status:     outlookStatus(e, now),
	}
}

func objectMeta(e *snapshot.ForecastSnapshot, now time.Time) metav1.ObjectMeta {
	labels := map[string]string{v1alpha1.LabelState: string(e.StateAt(now))}
	further := map[string]string{v1alpha1.LabelModel: strings.ReplaceAll(e.Model, " ", "-")}
	if e.Objective != nil {
		further[v1alpha1.LabelObjective] = string(e.Objective.Verdict)
	}
	for name, value := range further {
		if value != "" && len(validation.IsValidLabelValue(value)) == 0 {
			labels[name] = value
		}
	}
	return metav1.ObjectMeta{
		Namespace: e.Key.Namespace, Name: e.Key.Name, Generation: e.Generation, Labels: labels,
		CreationTimestamp: metav1.NewTime(e.Created),
	}
}

func outlookStatus(e *snapshot.ForecastSnapshot, now time.Time) v1alpha1.OutlookStatus {
	lead, background := metav1.Duration{Duration: e.Lead}, e.Views.Look(now)
	s := v1alpha1.OutlookStatus{
		State:           string(e.StateAt(now)),
		Conditions:      convertEach(e.Conditions, condition),
		Observed:        finite(&e.Observed),
		Unit:            e.Unit,
		Window:          metav1.Duration{Duration: e.Window},
		LeadTime:        v1alpha1.LeadTime{Duration: lead, Source: e.LeadSource, WarmPool: e.LeadPool},
		Serve:           string(cmp.Or(e.Settings.Mode, decide.Floor)),
		Step:            metav1.Duration{Duration: e.Step},
		Workload:        e.Workload,
		Model:           e.Model,
		PathModel:       e.PathModel,
		ModelReason:     e.ModelReason(),
		Skill:           finite(&e.Skill),
		Coverage:        finite(&e.Coverage),
		Fallbacks:       int64(min(e.Fallbacks, math.MaxInt64)),
		Objective:       objectiveStatus(e, background.Ready),
		Candidates:      candidates(e),
		Path:            pathSteps(e.Path),
		Day:             nextDay(e, background.NextDay, now),
		Past:            convertEach(e.Past, pastForecast),
		Recent:          recentSamples(e),
		Variants:        convertEach(e.Parts, variantPart),
		Events:          convertEach(e.Events, knownEvent),
		Classifications: convertEach(e.Classifications, classification),
	}
	if !e.SampleTime.IsZero() {
		s.SampleTime = new(utc(e.SampleTime))
	}
	setServed(&s, e, now)
	return s
}

// setServed sets the value that the metrics APIs serve now, or why they serve none.
func setServed(s *v1alpha1.OutlookStatus, e *snapshot.ForecastSnapshot, now time.Time) {
	answer, err := e.Answer(decide.Overrides{}, now)
	if err != nil {
		s.Reason = strings.TrimPrefix(err.Error(), snapshot.ErrNotServing.Error()+": ")
	} else {
		s.Reason, s.Served = e.Decision.Reason(), finite(&answer.Value)
	}
	switch {
	case e.State == snapshot.Invalid || e.State == snapshot.FallingBack || e.Decision.Pause.Active():
		// There is no policy, or the fallback or the observed demand is served.
	case e.Settings.ByHeadroom() && e.Settings.CostRatio > 0:
		s.CostRatio = finite(&e.Settings.CostRatio)
	case e.Settings.ByHeadroom() && e.Settings.BadHours:
		s.BadHours = finite(&e.Settings.Late)
	case e.Settings.ByHeadroom():
		s.Late = finite(&e.Settings.Late)
	default:
		level := e.Settings.Level()
		s.Quantile = finite(&level)
	}
}

// convertEach converts each element of a slice.
func convertEach[T, U any](in []T, show func(*T) U) []U {
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

func candidates(e *snapshot.ForecastSnapshot) []v1alpha1.Candidate {
	levels := levelNames(windowpeak.QuantileLevels())
	window := func(w *windowpeak.Window) v1alpha1.Window {
		horizon := metav1.Duration{Duration: w.Horizon}
		return v1alpha1.Window{Horizon: horizon, Quantiles: byLevel(levels, w.Quantiles[:])}
	}
	return convertEach(e.Candidates, func(c *snapshot.Candidate) v1alpha1.Candidate {
		return v1alpha1.Candidate{
			Name: c.Name, Title: c.Title, Selected: c.Name == e.Model, Baseline: c.Baseline, Error: c.Error,
			Loss: finite(&c.Loss), Skill: finite(&c.Skill), Coverage: finite(&c.Coverage),
			Windows: convertEach(c.Windows, window),
		}
	})
}

func pathSteps(in []snapshot.PathStep) []v1alpha1.PathStep {
	probabilities := snapshot.PathLevels()
	levels := levelNames(probabilities[:])
	return convertEach(in, func(p *snapshot.PathStep) v1alpha1.PathStep {
		return v1alpha1.PathStep{
			Time: utc(p.Time), Point: finite(&p.Point), Quantiles: byLevel(levels, p.Quantiles[:]),
		}
	})
}

func pastForecast(p *snapshot.ScoredForecast) v1alpha1.PastForecast {
	at := utc(time.Unix(p.At, 0))
	return v1alpha1.PastForecast{Time: at, Forecast: finite(&p.Forecast), Actual: finite(&p.Actual)}
}

func recentSamples(e *snapshot.ForecastSnapshot) []v1alpha1.Sample {
	out := make([]v1alpha1.Sample, e.Recent.Len())
	for i := range out {
		out[i] = v1alpha1.Sample{Time: utc(e.Recent.TimeAt(i)), Observed: finite(&e.Recent.Values[i])}
	}
	return out
}

func variantPart(p *distribute.Part) v1alpha1.Variant {
	return v1alpha1.Variant{
		Name: p.Name, Served: p.Value, Replicas: int32(min(math.Ceil(p.Value/p.Capacity), math.MaxInt32)),
		Starting: p.Starting, Limited: p.Limited,
	}
}

func knownEvent(e *event.Announcement) v1alpha1.Event {
	return v1alpha1.Event{
		Name: e.Name, Start: utc(e.Start), End: utc(e.End), Known: e.Knowledge.String(),
		Effects: convertEach(e.Effects, func(f *event.Effect) v1alpha1.EventEffect {
			return v1alpha1.EventEffect{Start: utc(f.Start), Times: finite(&f.Times), Highest: finite(&f.Most)}
		}),
	}
}

func classification(span *demand.Span) v1alpha1.Classification {
	return v1alpha1.Classification{
		From: utc(span.From), To: utc(span.To), Kind: string(span.Cause.Kind()), Message: span.Cause.String(),
		Samples: int32(min(span.Samples, math.MaxInt32)), //nolint:gosec // It is bounded.
	}
}

// levelNames are quantile levels as JSON keys.
func levelNames(levels []float64) []string {
	out := make([]string, len(levels))
	for i, level := range levels {
		out[i] = strconv.FormatFloat(level, 'g', -1, 64)
	}
	return out
}

// byLevel returns the finite quantiles by the names of their levels.
func byLevel(names []string, values []float64) map[string]float64 {
	out := make(map[string]float64, len(names))
	for i, name := range names {
		if finite(&values[i]) != nil {
			out[name] = values[i]
		}
	}
	return out
}

// finite returns the pointer itself, because entries never change. It returns nil for a number that JSON cannot represent.
func finite(v *float64) *float64 {
	if math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	return v
}
