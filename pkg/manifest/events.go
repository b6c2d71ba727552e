package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/parse"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/calendar"
)

const (
	MaxForecastEvents = 32  // Events of the Forecast itself, as in its schema.
	MaxEvents         = 64  // Including the events of its namespace.
	maxTimes          = 128 // Times in a list of an event, as in the schema.
)

// DemandEvent is a DemandEvent of a namespace whose fields are valid.
type DemandEvent struct {
	calendar.Event

	// Forecasts of its namespace; empty for all.
	Forecasts []string
}

// ResolveDemandEvent reads a DemandEvent. If there are problems, the list has all of them.
func ResolveDemandEvent(name string, spec *v1alpha1.DemandEventSpec) (DemandEvent, field.ErrorList) {
	r := reader{}
	e := v1alpha1.ForecastEvent{Name: name, EventSpec: spec.EventSpec}
	return DemandEvent{Event: r.event(field.NewPath("spec"), &e), Forecasts: spec.Forecasts}, r.Problems
}

// withNamespace adds the events of a namespace to the events of a Forecast. If both have an event of the same name, the Forecast's own is
// used.
func withNamespace(own, namespace []calendar.Event) []calendar.Event {
	out := slices.Clone(own)
	for i := range namespace {
		same := func(e calendar.Event) bool { return e.Name == namespace[i].Name }
		if len(out) < MaxEvents && !slices.ContainsFunc(own, same) {
			out = append(out, namespace[i])
		}
	}
	return out
}

// eventsDocument is a DemandEvent in a file.
type eventsDocument struct {
	Header `json:",inline"`

	Spec v1alpha1.DemandEventSpec `json:"spec"`
}

// ReadEvents returns the events of a file, YAML or JSON: those of its DemandEvents and of one Forecast. It may have other objects, too.
// The error has every problem, with its line.
func ReadEvents(file string, data []byte) ([]calendar.Event, error) {
	forecasts := 0
	found, others, err := ReadKinds(file, data, func(d RawDocument) KindReader[[]calendar.Event] {
		kind := d.Text("kind")
		switch own := d.Text("apiVersion") == v1alpha1.GroupVersion().String(); {
		case own && kind == v1alpha1.DemandEventKind:
			return KindReader[[]calendar.Event]{Read: readDemandEvent}
		case own && kind == v1alpha1.ForecastKind:
			return KindReader[[]calendar.Event]{Read: func(d RawDocument) ([]calendar.Event, error) {
				events, err := readForecastEvents(d)
				forecasts += min(len(events), 1)
				return events, err
			}}
		}
		return KindReader[[]calendar.Event]{SkippedAs: cmp.Or(kind, "a document without kind")}
	})
	events := slices.Concat(found...)
	switch {
	case err != nil:
		return nil, err
	case forecasts > 1:
		return nil, fmt.Errorf("%s: %d Forecasts have spec.events, but only one is supported", file, forecasts)
	case len(events) == 0:
		return nil, fmt.Errorf("%s: no DemandEvent, and no Forecast with spec.events: %s", file, others)
	}
	return events, nil
}

func readForecastEvents(raw RawDocument) ([]calendar.Event, error) {
	d := parseDocument(raw)
	if d.Object == nil {
		return nil, errors.Join((&Reading{Problems: d.Problems}).Errs()...)
	}
	r := reader{}
	events := r.events(field.NewPath("spec", "events"), d.Object.Spec.Events)
	return events, errors.Join((&Reading{Problems: d.Locate(r.Problems)}).Errs()...)
}

func readDemandEvent(d RawDocument) ([]calendar.Event, error) {
	var m eventsDocument
	reading := d.Check(reflect.TypeFor[eventsDocument]())
	if err := d.Decode(&m); err != nil && len(reading.Problems) == 0 {
		return nil, d.Err("read a DemandEvent: " + err.Error())
	}
	event, problems := ResolveDemandEvent(d.Text("metadata", "name"), &m.Spec)
	reading.Problems = append(reading.Problems, reading.locate(d.Line, problems)...)
	return []calendar.Event{event.Event}, errors.Join(reading.Errs()...)
}

// events reads the events of a Forecast. The result is used only if there are no problems.
func (r *reader) events(path *field.Path, events []v1alpha1.ForecastEvent) []calendar.Event {
	if len(events) > MaxForecastEvents {
		r.Add(field.TooMany(path, len(events), MaxForecastEvents))
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
		out = append(out, r.event(at, e))
	}
	return out
}

func (r *reader) event(path *field.Path, e *v1alpha1.ForecastEvent) calendar.Event {
	problems := len(r.Problems)
	if e.Name == "" {
		r.Add(field.Required(path.Child("name"), "name the event: Forewarm compares events of the same name"))
	}
	out := calendar.Event{
		Name: e.Name, Start: string(e.Start), Holidays: e.Holidays, TimeZone: e.TimeZone, Recurrence: e.Recurrence,
		AlsoOn: texts(e.AlsoOn), ExceptOn: texts(e.ExceptOn),
		Duration: r.duration(path.Child("duration"), cmp.Or(e.Duration, "1d"), time.Second, calendar.MaxDuration),
	}
	for name, times := range map[string]int{"alsoOn": len(e.AlsoOn), "exceptOn": len(e.ExceptOn)} {
		if times > maxTimes {
			r.Add(field.TooMany(path.Child(name), times, maxTimes))
			return out
		}
	}
	out.Ignored, out.Replicas = e.Ignore, e.Replicas
	if e.AtLeast != "" {
		digits := strings.TrimRight(e.AtLeast, "kMG")
		q, err := parse.Quantity(e.AtLeast)
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
		known := append([]string{string(v1alpha1.EventLikeLast)}, days...)
		r.Add(field.NotSupported(path.Child("like"), string(e.Like), known))
	}
	if err := out.Check(); err != nil && len(r.Problems) == problems {
		r.Invalid(path, e.Name, "%s", err)
	}
	return out
}

func texts(times []v1alpha1.EventTime) (out []string) {
	for _, t := range times {
		out = append(out, string(t))
	}
	return out
}

// weekdays returns the names of the days, beginning with Sunday.
func weekdays() (out []string) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		out = append(out, day.String())
	}
	return out
}
