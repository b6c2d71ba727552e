package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/decide"
	"github.com/forewarm/forewarm/pkg/leadtime"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/windowpeak"
)

// reader reads the fields of one object and collects what is wrong with them. Each of its methods reads one field, and
// returns the zero value where that has a problem.
type reader struct {
	problems field.ErrorList
}

func (r *reader) add(problem *field.Error) { r.problems = append(r.problems, problem) }

// names checks what the metric will be called. The Kubernetes API does so itself; a folder has nobody else.
func (r *reader) names(object *v1alpha1.Forecast) {
	path := field.NewPath("metadata")
	if object.Name == "" {
		r.add(field.Required(path.Child("name"), "name the Forecast; its metric carries the name"))
	} else {
		r.all(path.Child("name"), object.Name, validation.IsDNS1123Subdomain(object.Name))
	}
	r.all(path.Child("namespace"), object.Namespace, validation.IsDNS1123Label(object.Namespace))
}

func (r *reader) all(path *field.Path, value string, messages []string) {
	for _, message := range messages {
		r.add(field.Invalid(path, value, message))
	}
}

func (r *reader) targetRef(path *field.Path, ref v1alpha1.TargetRef) {
	if ref.Kind == "" {
		r.add(field.Required(path.Child("kind"), "name the kind of the workload, for example Deployment"))
	} else if messages := validation.IsDNS1035Label(strings.ToLower(ref.Kind)); len(messages) > 0 {
		r.add(field.Invalid(path.Child("kind"), ref.Kind, "is not a kind, write for example Deployment"))
	}
	if ref.Name == "" {
		r.add(field.Required(path.Child("name"), "name the workload whose demand this is"))
	} else {
		r.all(path.Child("name"), ref.Name, validation.IsDNS1123Subdomain(ref.Name))
	}
}

// signal reads where the demand comes from.
func (r *reader) signal(
	catalogue Catalogue, namespace string, spec *v1alpha1.ForecastSpec, target *refresh.Target,
) {
	path := field.NewPath("spec", "signal")
	preset, query := spec.Signal.Preset, spec.Signal.Query
	switch {
	case preset == "" && query == "":
		r.add(field.Required(path, "set preset (forewarm presets lists them) or query"))
	case preset != "" && query != "":
		r.add(field.Forbidden(path, "preset and query exclude each other, keep one"))
	}
	var rendered Rendered
	if query != "" {
		rendered = r.query(path.Child("query"), catalogue, namespace, query)
	}
	if preset != "" {
		rendered = r.preset(path.Child("preset"), catalogue, namespace, spec)
	}
	target.Expr, target.Unit, target.Rate = rendered.Expr, rendered.Unit, rendered.Rate
	target.Lookback = rendered.Lookback
	if saturated := spec.Signal.Saturated; saturated != "" {
		target.Saturated = r.query(path.Child("saturated"), catalogue, namespace, saturated).Expr
	}
}

func (r *reader) query(path *field.Path, catalogue Catalogue, namespace, query string) Rendered {
	if len(query) > MaxQuery {
		r.add(field.TooLong(path, query, MaxQuery))
		return Rendered{}
	}
	rendered, err := catalogue.Confine(query, namespace)
	if err != nil {
		r.add(field.Invalid(path, query, err.Error()))
	}
	return rendered
}

func (r *reader) preset(path *field.Path, catalogue Catalogue, namespace string, spec *v1alpha1.ForecastSpec) Rendered {
	preset := spec.Signal.Preset
	rendered, err := catalogue.Render(preset, namespace, spec.TargetRef)
	if err != nil {
		r.add(field.Invalid(path, preset, err.Error()))
	}
	return rendered
}

// duration reads a Prometheus duration from low to high.
func (r *reader) duration(path *field.Path, text v1alpha1.Duration, low, high time.Duration) time.Duration {
	d, err := model.ParseDuration(string(text))
	if err != nil {
		r.add(field.Invalid(path, text, "is not a duration, write for example 30s, 5m, 1h30m or 14d"))
		return 0
	}
	if got := time.Duration(d); got >= low && got <= high {
		return got
	}
	r.add(field.Invalid(path, text, fmt.Sprintf("write a duration from %s to %s", say(low), say(high))))
	return 0
}

// say writes a duration as the objects do.
func say(d time.Duration) string { return model.Duration(d).String() }

// step reads the step; whole seconds keep the grid free of rounding.
func (r *reader) step(path *field.Path, text v1alpha1.Duration) time.Duration {
	step := r.duration(path, text, MinStep, MaxLead)
	if step%time.Second != 0 {
		r.add(field.Invalid(path, text, "write a whole number of seconds"))
		return 0
	}
	return step
}

// leadTime reads the lead time that the object names and says so; what was measured comes after (see Measured). A window over it must be a number of steps that can be
// forecast; a step of 0 has a problem of its own.
func (r *reader) leadTime(
	path *field.Path, lead *v1alpha1.LeadTime, step time.Duration,
) (length time.Duration, source string) {
	at, text := path.Child("fallback"), lead.Fallback
	switch lead.Mode {
	case v1alpha1.LeadTimeAuto:
		if lead.Duration != "" {
			r.add(field.Forbidden(path.Child("duration"),
				"is for mode Fixed: add mode: Fixed, or write fallback instead"))
		}
		source = "fallback %s"
	case v1alpha1.LeadTimeFixed:
		if lead.Fallback != "" {
			r.add(field.Forbidden(path.Child("fallback"), "is for mode Auto: remove it"))
		}
		at, text = path.Child("duration"), lead.Duration
		if text == "" {
			r.add(field.Required(at, "mode Fixed needs the lead time, for example 4m"))
			return 0, ""
		}
		source = "fixed %s"
	default:
		modes := []v1alpha1.LeadTimeMode{v1alpha1.LeadTimeAuto, v1alpha1.LeadTimeFixed}
		r.add(field.NotSupported(path.Child("mode"), lead.Mode, modes))
		return 0, ""
	}
	length = r.duration(at, text, time.Second, MaxLead)
	if length == 0 || step == 0 {
		return 0, ""
	}
	r.window(at, text, leadtime.Window(length), step)
	return length, fmt.Sprintf(source, say(length))
}

func (r *reader) window(path *field.Path, text v1alpha1.Duration, window, step time.Duration) {
	switch {
	case step > window:
		r.add(field.Invalid(path, text, fmt.Sprintf(
			"the lead window %s is shorter than the step %s: write a shorter step", say(window), say(step))))
	case window > MaxWindowSteps*step:
		r.add(
			field.Invalid(
				path,
				text,
				fmt.Sprintf("the lead window %s is %d steps of %s, more than %d: write a longer step",
					say(window), window/step, say(step), MaxWindowSteps),
			),
		)
	}
}

// history reads how far back to look; its step and lead time may have problems of their own.
func (r *reader) history(path *field.Path, text v1alpha1.Duration, target *refresh.Target) time.Duration {
	history := r.duration(path, text, MinPoints*MinStep, MaxHistory)
	if history == 0 || target.Step == 0 || target.Lead == 0 {
		return history
	}
	points := int64(history / target.Step)
	least := max(MinPoints*target.Step, 2*leadtime.Window(target.Lead))
	switch {
	case points > MaxPoints:
		r.add(
			field.Invalid(path, text, fmt.Sprintf("is %d steps of %s, more than %d: write at most %s, or a longer step",
				points, say(target.Step), MaxPoints, say(MaxPoints*target.Step))),
		)
	case history < least:
		r.add(field.Invalid(path, text, fmt.Sprintf(
			"write at least %s: %d steps and two lead windows", say(least), MinPoints)))
	}
	return history
}

// seasons reads the cycles of the demand, which must be such that a model can learn them; the step and the history may
// have problems of their own.
func (r *reader) seasons(path *field.Path, texts []v1alpha1.Duration, target *refresh.Target) []time.Duration {
	if len(texts) > MaxSeasons {
		r.add(field.TooMany(path, len(texts), MaxSeasons))
		return nil
	}
	var out []time.Duration
	for i, text := range texts {
		season := r.duration(path.Index(i), text, 2*MinStep, MaxHistory)
		if season == 0 || target.Step == 0 || target.History == 0 {
			continue
		}
		switch {
		case season%target.Step != 0 || season < 2*target.Step:
			r.add(field.Invalid(path.Index(i), text,
				fmt.Sprintf("write a whole number of steps of %s, at least two", say(target.Step))))
		case season > target.History/2:
			r.add(field.Invalid(path.Index(i), text, fmt.Sprintf(
				"the history %s must hold a season twice: write at most %s",
				say(target.History),
				say(target.History/2),
			)))
		case len(out) > 0 && season <= out[len(out)-1]:
			r.add(field.Invalid(path.Index(i), text, "write the shorter season first, each once"))
		default:
			out = append(out, season)
		}
	}
	return out
}

// staleAfter reads the age beyond which nothing is served.
func (r *reader) staleAfter(path *field.Path, text v1alpha1.Duration, target *refresh.Target) time.Duration {
	if text == "" {
		return max(minStaleAfter, leadtime.Window(target.Lead), 2*target.Step)
	}
	return r.duration(path, text, max(2*target.Step, time.Second), MaxStaleAfter)
}

func (r *reader) mode(path *field.Path, mode v1alpha1.ServeMode) decide.Mode {
	switch mode {
	case v1alpha1.ServeFloor:
		return decide.Floor
	case v1alpha1.ServeForecast:
		return decide.Forecast
	case v1alpha1.ServeShadow:
		return decide.Shadow
	}
	known := []v1alpha1.ServeMode{v1alpha1.ServeFloor, v1alpha1.ServeForecast, v1alpha1.ServeShadow}
	r.add(field.NotSupported(path, mode, known))
	return ""
}

// models reads the names of the models, in the spelling that a selector uses.
func (r *reader) models(path *field.Path, names []string) []string {
	if len(names) > MaxModels {
		r.add(field.TooMany(path, len(names), MaxModels))
		return nil
	}
	var out []string
	for i, name := range names {
		canonical, ok := windowpeak.Canonical(name)
		switch {
		case !ok:
			r.add(field.NotSupported(path.Index(i), name, windowpeak.Names()))
		case slices.Contains(out, canonical):
			r.add(field.Duplicate(path.Index(i), name))
		default:
			out = append(out, canonical)
		}
	}
	return out
}

// decimal reads digits with a point, as the CRD's schema allows them: no sign, exponent, hexadecimal or NaN.
func decimal(text string) (value float64, ok bool) {
	if strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	value, err := strconv.ParseFloat(text, 64)
	return value, err == nil
}
