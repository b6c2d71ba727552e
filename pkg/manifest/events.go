package manifest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/calendar"
)

// maxEvents is the most events of a Forecast, as in its schema.
const maxEvents = 32

// ReadEvents returns the events of the Forecast of a file, YAML or JSON, which may have other objects, too. The error has every problem,
// with its line.
func ReadEvents(file string, data []byte) ([]calendar.Event, error) {
	var found []calendar.Event
	var problems []error
	objects := 0
	for _, d := range Parse(file, data) {
		if d.foreign { // As the HPA beside it.
			continue
		}
		for _, p := range d.Problems {
			problems = append(problems, p.Err())
		}
		if d.Object == nil || len(d.Object.Spec.Events) == 0 {
			continue
		}
		objects++
		r := reader{}
		found = r.events(field.NewPath("spec", "events"), d.Object.Spec.Events)
		for _, p := range d.Locate(r.Problems) {
			problems = append(problems, p.Err())
		}
	}
	if len(problems) == 0 && objects != 1 {
		return nil, fmt.Errorf("%s: %d Forecasts with spec.events, want one", file, objects)
	}
	return found, errors.Join(problems...)
}

// events reads the events of a Forecast.
func (r *reader) events(path *field.Path, events []v1alpha1.ForecastEvent) []calendar.Event {
	if len(events) > maxEvents {
		r.Add(field.TooMany(path, len(events), maxEvents))
		return nil
	}
	var out []calendar.Event
	names := map[string]bool{}
	for i := range events {
		e, at := &events[i], path.Index(i)
		if names[e.Name] {
			r.Add(field.Duplicate(at.Child("name"), e.Name))
		}
		names[e.Name] = true
		problems := len(r.Problems)
		spec := r.event(at, e)
		if len(r.Problems) > problems {
			continue
		}
		if err := spec.Check(); err != nil {
			r.Invalid(at, e.Name, "%s", err)
			continue
		}
		out = append(out, spec)
	}
	return out
}

func (r *reader) event(path *field.Path, e *v1alpha1.ForecastEvent) calendar.Event {
	if e.Name == "" {
		r.Add(field.Required(path.Child("name"), "name the event: those that recur are compared by it"))
	}
	out := calendar.Event{
		Name: e.Name, Start: e.Start, TimeZone: e.TimeZone, Recurrence: e.Recurrence,
		Duration: r.duration(path.Child("duration"), e.Duration, time.Second, calendar.MaxDuration),
	}
	out.Ignored = e.Ignore
	if e.AtLeast != "" {
		digits := strings.TrimRight(e.AtLeast, "kMG")
		q, err := resource.ParseQuantity(e.AtLeast)
		if _, plain := ParseDecimal(digits); !plain || err != nil || len(e.AtLeast) > 16 {
			r.Invalid(path.Child("atLeast"), e.AtLeast, "write a demand above 0, for example \"400\" or \"12k\"")
		}
		out.AtLeast = q.AsApproximateFloat64()
	}
	if e.Times != "" {
		var ok bool
		if out.Times, ok = ParseDecimal(e.Times); !ok {
			r.Invalid(path.Child("times"), e.Times, "write a number, for example \"3\" or \"0.5\"")
		}
	}
	switch days := weekdays(); {
	case e.Like == "":
	case e.Like == v1alpha1.EventLikeLast:
		out.LikeLast = true
	case slices.Contains(days, string(e.Like)):
		day := time.Weekday(slices.Index(days, string(e.Like)))
		out.LikeDay = &day
	default:
		r.Add(
			field.NotSupported(
				path.Child("like"),
				string(e.Like),
				append([]string{string(v1alpha1.EventLikeLast)}, days...),
			),
		)
	}
	return out
}

// weekdays are the names of the days, from Sunday on.
func weekdays() (out []string) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		out = append(out, day.String())
	}
	return out
}
