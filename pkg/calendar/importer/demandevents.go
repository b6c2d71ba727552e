package importer

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// Config says which events become DemandEvents, and what is known of the demand then.
type Config struct {
	// Namespace of the objects, and the Forecasts in it whose demand it is; without any it is the demand of all.
	Namespace string
	Forecasts []string
	// Known is what is known of the demand, which neither a calendar nor a cron table says. Of several, the first that names an event
	// applies to it, otherwise the first without a name.
	Known []Known
	// Zone is for times that name none, Duration for the events of a cron table.
	Zone     string
	Duration time.Duration
	// Match is found in the name of each event. Events that were over before Since are left out.
	Match *regexp.Regexp
	Since time.Time
}

// Known is what is known of the demand during some events.
type Known struct {
	// Name is found in the names of these events; nil for all others.
	Name *regexp.Regexp
	// Spec has only the known part.
	Spec v1alpha1.EventSpec
	// Flag is how it was given, "--times launch=3".
	Flag string
}

// known returns what is known of the demand during an event; nil if nothing is.
func (c *Config) known(name string) *Known {
	var others *Known
	for i := range c.Known {
		k := &c.Known[i]
		switch {
		case k.Name != nil && k.Name.MatchString(name):
			return k
		case k.Name == nil && others == nil:
			others = k
		}
	}
	return others
}

// DemandEvents are the objects for a calendar or a cron table.
type DemandEvents struct {
	Objects []v1alpha1.DemandEvent
	// LeftOut says of what could not be imported why, and what to do.
	LeftOut []error
	// Over is the number of events that were over before.
	Over int
}

// ReadDemandEvents reads a calendar or a cron table.
func ReadDemandEvents(data []byte, c Config) (DemandEvents, error) {
	var found Result
	if bytes.Contains(data[:min(len(data), 1024)], []byte("BEGIN:VCALENDAR")) {
		var err error
		if found, err = ICS(data, c.Zone); err != nil {
			return DemandEvents{}, err
		}
	} else {
		found = Crontab(data, c.Since, c.Zone, c.Duration)
	}
	out := DemandEvents{Objects: []v1alpha1.DemandEvent{}}
	for _, l := range found.LeftOut {
		if c.Match.MatchString(l.Name) {
			out.LeftOut = append(out.LeftOut, l.Reason)
		}
	}
	taken, used := map[string]bool{}, map[*Known]bool{}
	for i := range found.Events {
		e := &found.Events[i]
		if !c.Match.MatchString(e.Name) {
			continue
		}
		known := c.known(e.Name)
		used[known] = true
		object := c.object(e, known, taken)
		event, problems := manifest.ResolveDemandEvent(object.Name, &object.Spec)
		switch {
		case len(problems) > 0:
			text := strings.ReplaceAll(manifest.JoinProblems(problems), "\n", "; ")
			out.LeftOut = append(out.LeftOut, fmt.Errorf("%.64q is left out: %s", e.Name, text))
		case isOver(event.Event, c.Since):
			out.Over++
		case known == nil:
			out.LeftOut = append(out.LeftOut, fmt.Errorf("%.64q is left out: no flag says how it changes the "+
				"demand: add for example --times '%[1]s=3', or --times 3 for all other events", e.Name))
		default:
			taken[object.Name] = true
			out.Objects = append(out.Objects, object)
		}
	}
	out.LeftOut = append(out.LeftOut, c.unused(used, found.Events)...)
	return out, nil
}

// unused are the flags that name events and apply to none.
func (c *Config) unused(used map[*Known]bool, events []calendar.Event) (out []error) {
	for i := range c.Known {
		k := &c.Known[i]
		isOf := func(e calendar.Event) bool { return c.Match.MatchString(e.Name) && k.Name.MatchString(e.Name) }
		switch {
		case k.Name == nil || used[k]:
		case slices.ContainsFunc(events, isOf):
			const taken = "%s applies to no event, because an earlier flag already applies to each event of that name: write " +
				"it before the earlier flag, or remove it"
			out = append(out, fmt.Errorf(taken, k.Flag))
		default:
			out = append(out, fmt.Errorf("%s applies to no event: check the name", k.Flag))
		}
	}
	return out
}

// object is the DemandEvent of an event, under a name that is free.
func (c *Config) object(e *calendar.Event, known *Known, taken map[string]bool) v1alpha1.DemandEvent {
	isTaken := func(name string) bool { return taken[name] }
	name := manifest.FreeName(e.Name, isTaken)
	if name == "" { // It has other letters.
		name = manifest.FreeName("event", isTaken)
	}
	spec := v1alpha1.EventSpec{Ignore: true} // If nothing is known, the rest is checked nevertheless.
	if known != nil {
		spec = known.Spec
	}
	spec.Start, spec.TimeZone, spec.Recurrence = v1alpha1.EventTime(e.Start), e.TimeZone, e.Recurrence
	spec.Duration = v1alpha1.Duration(model.Duration(e.Duration).String())
	spec.AlsoOn, spec.ExceptOn = eventTimes(e.AlsoOn), eventTimes(e.ExceptOn)
	return v1alpha1.DemandEvent{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: v1alpha1.DemandEventKind},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.Namespace},
		Spec:       v1alpha1.DemandEventSpec{EventSpec: spec, Forecasts: c.Forecasts},
	}
}

func eventTimes(all []string) (out []v1alpha1.EventTime) {
	for _, t := range all {
		out = append(out, v1alpha1.EventTime(t))
	}
	return out
}

// isOver reports whether an event has no occurrence any more, that a Forecast could have seen or will see.
func isOver(e calendar.Event, since time.Time) bool {
	const years = 10
	return len(calendar.Of([]calendar.Event{e})(since, since.AddDate(years, 0, 0))) == 0
}
