package manifest

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// reader reads the fields of a Forecast.
type reader struct{ Fields }

// signal reads the source of the demand.
func (r *reader) signal(catalogue Catalogue, namespace string, spec *v1alpha1.ForecastSpec, target *refresh.Job) {
	path := field.NewPath("spec", "signal")
	preset, query := spec.Signal.Preset, spec.Signal.Query
	switch {
	case preset == "" && query == "":
		r.Add(field.Required(path, "set preset (forewarm presets lists them) or query"))
	case preset != "" && query != "":
		r.Add(field.Forbidden(path, "preset and query exclude each other, keep one"))
	}
	source, err := catalogue.Source(spec.Signal.Source, namespace)
	if err != nil {
		r.Add(field.Invalid(path.Child("source"), spec.Signal.Source, err.Error()))
		return // The source determines the label that confines queries.
	}
	target.Source = source.SourceRef
	confine := func(query string) (Rendered, error) { return catalogue.Confine(query, namespace, source) }
	var rendered Rendered
	if query != "" {
		rendered = r.query(path.Child("query"), query, confine)
	}
	if preset != "" {
		r.variantKinds(spec)
		render := func() (Rendered, error) { return catalogue.Render(preset, namespace, spec, source, 0) }
		rendered = r.preset(path.Child("preset"), preset, render)
	}
	target.Expr, target.Unit, target.Rate = rendered.Expr, rendered.Unit, rendered.Rate
	target.Diagnosis, target.Lookback, target.Average = rendered.Diagnosis, rendered.Lookback, rendered.Average
	ask := refresh.SideQueries{refresh.Ready: catalogue.Ready(namespace, spec, source)}
	maps.Copy(ask, rendered.SideQueries)
	if saturated := spec.Signal.Saturated; saturated != "" {
		ask[refresh.Saturated] = r.query(path.Child("saturated"), saturated, confine).Expr
	}
	if d := spec.Deferrable; d != nil {
		render := func() (Rendered, error) { return catalogue.Render(d.Signal.Preset, namespace, spec, source, 0) }
		ask[refresh.Deferrable] = r.deferrable(d, confine, render, target)
	}
	if o := spec.Objective; o != nil && o.Measured != nil &&
		target.Settings.Wait > 0 { // An invalid wait has already been reported.
		render := func() (Rendered, error) {
			return catalogue.Render(o.Measured.Preset, namespace, spec, source, target.Settings.Wait)
		}
		of := given{o.Measured.Preset, o.Measured.Query, "vllm/queue-time"}
		ask[refresh.Measured] = r.presetOrQuery(field.NewPath("spec", "objective", "measured"), of, confine, render)
	}
	maps.DeleteFunc(ask, func(_ refresh.SideQuery, expr string) bool { return expr == "" })
	target.SideQueries = ask
}

// deferrable reads the deferrable work. Without an autoscaler's target, Forewarm does not plan for it.
func (r *reader) deferrable(
	d *v1alpha1.Deferrable, confine func(string) (Rendered, error), render func() (Rendered, error),
	target *refresh.Job,
) (query string) {
	const shortest, longest = time.Minute, 24 * time.Hour
	path := field.NewPath("spec", "deferrable")
	target.Deadline = r.duration(path.Child("deadline"), d.Deadline, shortest, longest)
	if target.Settings.Quantile != 0 {
		const alone = "deferrable work runs on the headroom of an objective, so it cannot be combined with a " +
			"quantile: remove spec.quantile"
		r.Add(field.Forbidden(path, alone))
	}
	of := given{d.Signal.Preset, d.Signal.Query, "gateway/arrivals-deferrable"}
	return r.presetOrQuery(path.Child("signal"), of, confine, render)
}

// presetOrQuery reads PromQL that is given as a preset or as a query.
func (r *reader) presetOrQuery(
	path *field.Path, of given, confine func(string) (Rendered, error), render func() (Rendered, error),
) string {
	switch {
	case of.preset != "" && of.query != "":
		r.Add(field.Forbidden(path, "preset and query exclude each other, keep one"))
	case of.preset != "":
		return r.preset(path.Child("preset"), of.preset, render).Expr
	case of.query != "":
		return r.query(path.Child("query"), of.query, confine).Expr
	default:
		r.Add(field.Required(path, "set preset, for example "+of.example+", or query"))
	}
	return ""
}

// given has a preset or a query. example is the preset that the message suggests if there is neither.
type given struct{ preset, query, example string }

func (r *reader) query(path *field.Path, query string, confine func(string) (Rendered, error)) Rendered {
	if len(query) > MaxQuery {
		r.Add(field.TooLong(path, query, MaxQuery))
		return Rendered{}
	}
	rendered, err := confine(query)
	if err != nil {
		r.Add(field.Invalid(path, query, err.Error()))
	}
	return rendered
}

// preset renders a preset.
func (r *reader) preset(path *field.Path, preset string, render func() (Rendered, error)) Rendered {
	rendered, err := render()
	if err == nil {
		return rendered
	}
	var named any = preset
	if strings.Contains(err.Error(), strconv.Quote(preset)) { // Its name should appear only once.
		named = field.OmitValueType{}
	}
	r.Add(field.Invalid(path, named, err.Error()))
	return Rendered{}
}

// duration reads a Prometheus duration between low and high.
func (f *Fields) duration(path *field.Path, text v1alpha1.Duration, low, high time.Duration) time.Duration {
	d, err := model.ParseDuration(string(text))
	if err != nil {
		f.Invalid(path, text, "is not a duration, write for example 30s, 5m, 1h30m or 14d")
		return 0
	}
	if got := time.Duration(d); got >= low && got <= high {
		return got
	}
	f.Invalid(path, text, "write a duration from %s to %s", formatDuration(low), formatDuration(high))
	return 0
}

// formatDuration formats a duration as it is written in the objects.
func formatDuration(d time.Duration) string { return model.Duration(d).String() }

// step reads the step; whole seconds keep the grid free of rounding.
func (r *reader) step(path *field.Path, text v1alpha1.Duration) time.Duration {
	step := r.duration(path, text, MinStep, MaxLead)
	if step%time.Second != 0 {
		r.Invalid(path, text, "write a whole number of seconds")
		return 0
	}
	return step
}

// delay reads the delay of the source, which must be a whole number of steps. A step of 0 has been reported already.
func (r *reader) delay(path *field.Path, text v1alpha1.Duration, step time.Duration) time.Duration {
	if text == "" || step == 0 {
		return 0
	}
	delay := r.duration(path, text, 0, MaxDelay)
	if rest := delay % step; rest > 0 {
		delay += step - rest
	}
	return delay
}

// leadTime reads the lead time of the spec. A measured lead time replaces it later (see MeasuredLeadTime). The lead window must be a number
// of steps that can be forecast. A step of 0 has been reported already.
func (r *reader) leadTime(
	path *field.Path, lead *v1alpha1.LeadTime, step, delay time.Duration,
) (length time.Duration, source string) {
	at, text := r.LeadTime(path, lead, "the lead time")
	if at == nil {
		return 0, ""
	}
	length = r.duration(at, text, time.Second, MaxLead)
	if length == 0 || step == 0 {
		return 0, ""
	}
	window := leadtime.Window(length) + delay
	switch {
	case step > window:
		r.Invalid(at, text, "the lead window %s is shorter than the step %s: write a shorter step",
			formatDuration(window), formatDuration(step))
	case window > MaxWindowSteps*step:
		r.Invalid(at, text, "the lead window %s is %d steps of %s, but at most %d are allowed: write a longer step",
			formatDuration(window), window/step, formatDuration(step), MaxWindowSteps)
	}
	if lead.Mode == v1alpha1.LeadTimeAuto {
		return length, "fallback " + formatDuration(length)
	}
	return length, "fixed " + formatDuration(length)
}

// history reads the length of the history. Problems of the step and of the lead time are reported elsewhere.
func (r *reader) history(path *field.Path, text v1alpha1.Duration, target *refresh.Job) time.Duration {
	history := r.duration(path, text, MinPoints*MinStep, MaxHistory)
	if history == 0 || target.Step == 0 || target.Lead == 0 {
		return history
	}
	points := int64(history / target.Step)
	least := max(MinPoints*target.Step, 2*leadtime.Window(target.Lead))
	switch {
	case points > MaxPoints:
		r.Invalid(path, text, "is %d steps of %s, but at most %d are allowed: write at most %s, or a longer step",
			points, formatDuration(target.Step), MaxPoints, formatDuration(MaxPoints*target.Step))
	case history < least:
		r.Invalid(path, text, "write at least %s, because the history must contain at least %d steps and two lead "+
			"windows", formatDuration(least), MinPoints)
	}
	return history
}

// seasons reads the cycles of the demand, which must be suitable for the models. A step or a history of 0 has been reported already.
func (r *reader) seasons(path *field.Path, texts []v1alpha1.Duration, target *refresh.Job) []time.Duration {
	if len(texts) > MaxSeasons {
		r.Add(field.TooMany(path, len(texts), MaxSeasons))
		return nil
	}
	var out []time.Duration
	for i, text := range texts {
		at := path.Index(i)
		season := r.duration(at, text, 2*MinStep, MaxHistory)
		if season == 0 || target.Step == 0 || target.History == 0 {
			continue
		}
		switch {
		case season%target.Step != 0 || season < 2*target.Step:
			r.Invalid(at, text, "write a whole number of steps of %s, at least two", formatDuration(target.Step))
		case season > target.History/2:
			r.Invalid(at, text, "the history (%s) must be at least twice as long as a season: write at most %s",
				formatDuration(target.History), formatDuration(target.History/2))
		case len(out) > 0 && season <= out[len(out)-1]:
			r.Invalid(at, text, "write the shorter season first, and each season only once")
		default:
			out = append(out, season)
		}
	}
	return out
}

// staleAfter reads the age of the newest sample above which no value is served.
func (r *reader) staleAfter(path *field.Path, text v1alpha1.Duration, target *refresh.Job) time.Duration {
	if text == "" {
		return forecaster.StaleAfter(leadtime.Window(target.Lead), target.Step) + target.Delay
	}
	return r.duration(path, text, max(2*target.Step, time.Second)+target.Delay, MaxStaleAfter)
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
	r.Add(field.NotSupported(path, mode,
		[]v1alpha1.ServeMode{v1alpha1.ServeFloor, v1alpha1.ServeForecast, v1alpha1.ServeShadow}))
	return ""
}

// models reads the names of the models, in the spelling of selectors.
func (r *reader) models(path *field.Path, names []string) []string {
	if len(names) > MaxModels {
		r.Add(field.TooMany(path, len(names), MaxModels))
		return nil
	}
	var out []string
	for i, name := range names {
		canonical, ok := windowpeak.CanonicalName(name)
		switch {
		case !ok:
			r.Add(field.NotSupported(path.Index(i), name, windowpeak.CandidateNames()))
		case slices.Contains(out, canonical):
			r.Add(field.Duplicate(path.Index(i), name))
		default:
			out = append(out, canonical)
		}
	}
	return out
}

// policy reads the quantile, the cost ratio or the objective. A spec has one of them. history is 0 if it is invalid.
func (r *reader) policy(path *field.Path, spec *v1alpha1.ForecastSpec, history time.Duration) decide.Settings {
	out := decide.Settings{
		Quantile:  r.quantile(path.Child("quantile"), spec.Quantile),
		CostRatio: r.positive(path.Child("costRatio"), spec.CostRatio, "20"),
		Mode:      r.mode(path.Child("serve"), spec.Serve),
	}
	const one = "objective, quantile and costRatio exclude each other, keep one"
	if spec.Quantile != "" && spec.CostRatio != "" {
		r.Add(field.Forbidden(path.Child("costRatio"), one))
	}
	if spec.Objective == nil {
		return out
	}
	r.objective(path.Child("objective"), spec.Objective, &out)
	out.Over = r.over(path.Child("objective", "over"), spec.Objective.Over, history)
	if spec.Quantile != "" || spec.CostRatio != "" {
		r.Add(field.Forbidden(path.Child("objective"), one))
	}
	return out
}

func (r *reader) quantile(path *field.Path, text string) float64 {
	if text == "" {
		return 0
	}
	q, ok := ParseDecimal(text)
	if !ok || !(q >= windowpeak.LowestQuantile && q <= windowpeak.HighestQuantile) {
		r.Invalid(path, text, "write a number from %v to %v, for example \"0.95\"", windowpeak.LowestQuantile,
			windowpeak.HighestQuantile)
		return 0
	}
	return q
}

// positive reads a positive number; 0 if there is none.
func (r *reader) positive(path *field.Path, text v1alpha1.Positive, example string) float64 {
	if text == "" {
		return 0
	}
	number, ok := ParseDecimal(string(text))
	if !ok || !(number > 0 && number <= MaxCostRatio) {
		r.Invalid(path, text, "write a number above 0, at most %d, for example %q", MaxCostRatio, example)
		return 0
	}
	return number
}

// over reads the period of the lateness budget. It must be a whole number of hours and at most the history.
func (r *reader) over(path *field.Path, text v1alpha1.Duration, history time.Duration) time.Duration {
	if history == 0 {
		history = MaxHistory
	}
	over := r.duration(path, text, time.Hour, max(history, time.Hour))
	if over%time.Hour != 0 {
		r.Invalid(path, text, "write a whole number of hours, for example 7d")
		return 0
	}
	return over
}

// objective reads the share of demand that may be late, or that may arrive in bad hours, and the wait beyond which demand is late.
func (r *reader) objective(path *field.Path, o *v1alpha1.Objective, out *decide.Settings) {
	out.Wait = r.duration(path.Child("wait"), o.Wait, time.Second, MaxWait)
	if o.BadHours == "" {
		out.Late = r.percentage(path.Child("late"), o.Late)
		return
	}
	out.Late, out.BadHours = r.percentage(path.Child("badHours"), o.BadHours), true
	if o.Late != "" {
		r.percentage(path.Child("late"), o.Late)
		r.Add(field.Forbidden(path.Child("badHours"), "late and badHours exclude each other, keep one"))
	}
}

// percentage reads a share of the demand; 0 if it is invalid.
func (r *reader) percentage(path *field.Path, text string) float64 {
	number, isPercentage := strings.CutSuffix(text, "%")
	percent, ok := ParseDecimal(number)
	if !isPercentage || !ok || !(percent > 0 && percent < 100) {
		r.Invalid(path, text, "write a percentage above 0%% and below 100%%, for example \"1%%\"")
		return 0
	}
	return percent / 100
}
