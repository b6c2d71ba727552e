package manifest

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// metricName is an External metric's name: what Prometheus allows, and objects' names. It is a part of a URL's path.
var metricName = regexp.MustCompile(`^[A-Za-z0-9_:][A-Za-z0-9_:.-]{0,252}$`)

// alias reads spec.expose; nil where there is none, or it has problems.
func (r *reader) alias(path *field.Path, object *v1alpha1.Forecast) *snapshot.Alias {
	expose := object.Spec.Expose
	if expose == nil {
		return nil
	}
	before := len(r.Problems)
	if !metricName.MatchString(expose.Metric) {
		r.Invalid(path.Child("metric"), expose.Metric,
			"write the name of the HPA's metric, at most 253 letters, digits, _, :, . and -")
	}
	labels := path.Child("matchLabels")
	if len(expose.MatchLabels) > MaxLabels {
		r.Add(field.TooMany(labels, len(expose.MatchLabels), MaxLabels))
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(expose.MatchLabels)) {
		for _, problem := range metav1validation.ValidateLabels(map[string]string{key: expose.MatchLabels[key]}, labels) {
			r.Add(problem)
		}
		if views := decide.ViewKeys(); slices.Contains(views, key) {
			r.Invalid(labels, key, "%s ask for another view of a Forecast: remove it", strings.Join(views, ", "))
		}
	}
	if len(r.Problems) > before {
		return nil
	}
	return &snapshot.Alias{Metric: expose.Metric, Labels: expose.MatchLabels, Created: object.CreationTimestamp.Time}
}

// PauseAnnotation pauses a Forecast while it is true, as strconv.ParseBool reads it.
const PauseAnnotation = "forewarm.dev/pause"

// pause reads the annotation of an object whose autoscalers are known. One that cannot be read does not pause: a typing error must
// not change what is served.
func pause(object *v1alpha1.Forecast, target *refresh.Job) decide.Pause {
	text, written := object.Annotations[PauseAnnotation]
	paused, err := strconv.ParseBool(text)
	switch {
	case written && err != nil:
		const invalid = `the annotation %s is %.64q, so the Forecast is not paused: write "true", or remove it`
		return decide.Pause{Invalid: fmt.Sprintf(invalid, PauseAnnotation, text)}
	case paused:
		return pauseAsBefore(target.Before, target.Autoscalers, target.Uncapped)
	}
	return decide.Pause{}
}

// pauseAsBefore serves so much that none of the autoscalers has fewer replicas than the HPA before.
func pauseAsBefore(before decide.Before, autoscalers []decide.Autoscaler, others bool) decide.Pause {
	stabilization := hpa.DefaultCluster().DownscaleStabilization
	capacity, least, own := 0.0, math.Inf(1), time.Duration(math.MaxInt64)
	for i := range autoscalers {
		target := autoscalers[i].Target()
		capacity, least = max(capacity, target), min(least, target)
		own = min(own, autoscalers[i].HPA.DownStabilization())
	}
	share := humanize.ShareAsWritten(objective.AssumedTarget)
	assumed := decide.Pause{
		Capacity: 1, Target: objective.AssumedTarget, Hold: stabilization,
		Source: "an HPA before is assumed, with " + share + " of what a replica sustains as its target",
	}
	if capacity == 0 {
		assumed.Assumed = "it is unknown what a replica sustains: to make it exact let an HPA or a ScaledObject " +
			"refer to the Forecast, or set spec.scaling.target, and set spec.scaling.before"
		return assumed
	}
	p := assumed
	p.Capacity, p.Target, p.Least = capacity, objective.AssumedTarget*capacity, float64(before.Min)*capacity
	if !others { // Of those that are not used, the stabilization is unknown.
		p.Hold = max(0, stabilization-own)
	}
	if before.Target == 0 {
		p.Assumed = "to make it exact set spec.scaling.before.target"
		return p
	}
	p.Target = before.Target
	p.Source = fmt.Sprintf("a replica sustains %s, and the target before was %s (spec.scaling.before)",
		humanize.Number(capacity), humanize.Number(before.Target))
	switch {
	case others:
		p.Assumed = "autoscalers with unknown targets read it, too, so that the ratio is at least that of " + share +
			": forewarm explain names what is wrong with an HPA"
		if assumed.Capacity/assumed.Target > p.Capacity/p.Target {
			p.Target = objective.AssumedTarget * capacity
		}
	case least < capacity:
		p.Assumed = "autoscalers with lower targets have more replicas than before: equal targets make it exact"
	}
	return p
}

// The defaults of a Forecast. StaleAfter has none here: it follows from the lead window.
const (
	DefaultAPIVersion = "apps/v1"
	DefaultHistory    = v1alpha1.Duration("14d")
	DefaultStep       = v1alpha1.Duration("30s")
	DefaultFallback   = v1alpha1.Duration("5m")
	DefaultBadHours   = "1%"
	DefaultWait       = v1alpha1.Duration("30s")
	// DefaultOver is the default of a budget's period for late demand, DefaultOverBadHours for bad hours, which are few.
	DefaultOver         = v1alpha1.Duration("7d")
	DefaultOverBadHours = v1alpha1.Duration("14d")
	DefaultServe        = v1alpha1.ServeFloor
)

// DefaultNamespace is the namespace of an object in a folder that names none.
const DefaultNamespace = "default"

// The limits of a Forecast. They bound the memory, queries and time that one object can cost.
const (
	MinStep        = time.Second          // Steps are whole seconds.
	MinPoints      = 10                   // The shortest history, in steps.
	MaxPoints      = 120_000              // History ÷ step: 14 days at 15 s are 80,640.
	MaxHistory     = 400 * 24 * time.Hour // How far back a query may ask.
	MaxLead        = 2 * time.Hour        // The longest lead time.
	MaxWindowSteps = 1_000                // Lead window ÷ step: models forecast every step of it at every refresh.
	MaxDelay       = 30 * time.Minute     // How far a source may lag.
	MaxStaleAfter  = 24 * time.Hour       // How long a value may be served without a new sample.
	MaxWait        = time.Hour            // The longest wait of an objective.
	MaxCostRatio   = 1_000_000
	MaxSeasons     = 2
	MaxFormerNames = 4 // Each makes the query of a preset longer.
	MaxLabels      = 16
	MaxModels      = 16
	MaxQuery       = 8192 // In bytes.
)

// withDefaults returns a copy of a spec with its defaults. Contradictions stay, for the validation to find: a
// quantile or a cost ratio gets no objective, a duration without a mode gets no mode.
func withDefaults(spec *v1alpha1.ForecastSpec) *v1alpha1.ForecastSpec {
	s := spec.DeepCopy()
	setDefault(&s.TargetRef.APIVersion, DefaultAPIVersion)
	setDefault(&s.History, DefaultHistory)
	setDefault(&s.Step, DefaultStep)
	setDefault(&s.Serve, DefaultServe)
	if s.Quantile == "" && s.CostRatio == "" && s.Objective == nil {
		s.Objective = &v1alpha1.Objective{}
	}
	if s.Objective != nil {
		over := DefaultOver
		if s.Objective.Late == "" {
			over = DefaultOverBadHours
			setDefault(&s.Objective.BadHours, DefaultBadHours)
		}
		setDefault(&s.Objective.Wait, DefaultWait)
		setDefault(&s.Objective.Over, atMostHistory(over, s.History))
	}
	if s.LeadTime == nil {
		s.LeadTime = &v1alpha1.LeadTime{}
	}
	setDefault(&s.LeadTime.Mode, v1alpha1.LeadTimeAuto)
	if s.LeadTime.Mode == v1alpha1.LeadTimeAuto {
		setDefault(&s.LeadTime.Fallback, DefaultFallback)
	}
	return s
}

// Advice is what a valid spec should rather not ask for, and what to write instead; empty if there is nothing to say.
func Advice(spec *v1alpha1.ForecastSpec) string {
	o := withDefaults(spec).Objective
	if o == nil || o.BadHours == "" {
		return ""
	}
	over, err := model.ParseDuration(string(o.Over))
	if err != nil {
		return "" // The validation says so.
	}
	return objective.ShortPeriodAdvice(time.Duration(over))
}

// atMostHistory is the default of a budget's period: at most the history.
func atMostHistory(over, history v1alpha1.Duration) v1alpha1.Duration {
	most, err := model.ParseDuration(string(over))
	if h, wrong := model.ParseDuration(string(history)); err == nil && wrong == nil && h < most {
		return v1alpha1.Duration(model.Duration(max(time.Duration(h).Truncate(time.Hour), time.Hour)).String())
	}
	return over
}

// setDefault sets an empty value.
func setDefault[T ~string](value *T, fallback T) {
	if *value == "" {
		*value = fallback
	}
}
