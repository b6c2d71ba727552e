package objective_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
)

// A report has the headroom for the other kind of objective, too: that of a calibrator which has it as its own. The budget corrects
// only objectives of its own kind.
func TestHeadroomForTheOtherKind(t *testing.T) {
	const asked = 0.2
	report := func(goal objective.Goal) *objective.Report {
		c := config(t, asked)
		c.Goals = []objective.Goal{goal}
		c.Candidates = c.Candidates[1:2]
		o := newPlayer(t, c)
		play(o, jumpy(6, 3))
		return o.Report()
	}
	late, byHours := report(objective.Goal{Late: asked}), report(objective.Goal{Late: asked, BadHours: true})
	if late.BadHours || !byHours.BadHours || byHours.Late != asked {
		t.Fatalf("bad hours %v and %v of %v", late.BadHours, byHours.BadHours, byHours.Late)
	}
	settings := map[bool]decide.Settings{false: {Late: asked}, true: {Late: asked, BadHours: true}}
	for _, pair := range [][2]*objective.Report{{late, byHours}, {byHours, late}} {
		own, other := *pair[0], *pair[1]
		if own.TargetLate == own.Late || other.TargetLate == other.Late {
			t.Fatalf("no correction: %v and %v", own.TargetLate, other.TargetLate)
		}
		if told := own.HeadroomFor(settings[own.BadHours]); told != own.Autoscalers[0].Headroom {
			t.Errorf("its own headroom is %v, told %v", own.Autoscalers[0].Headroom, told)
		}
		uncorrected := other
		uncorrected.TargetLate = uncorrected.Late
		told, want := own.HeadroomFor(settings[other.BadHours]), uncorrected.HeadroomFor(settings[other.BadHours])
		if math.Abs(told-want) > 1e-9 {
			t.Errorf("bad hours %v: %v told by the other kind, want %v", other.BadHours, told, want)
		}
		if math.Abs(told-other.HeadroomFor(settings[other.BadHours])) < 1e-3 {
			t.Errorf("bad hours %v: the correction changes nothing of %v: this test sees none", other.BadHours, told)
		}
	}
}

// The words of an objective by bad hours are of bad hours, and warn of a period that is too short.
func TestBadHoursInWords(t *testing.T) {
	c := config(t, 0.01)
	c.Goals[0].BadHours, c.Period = true, 14*24*time.Hour
	o := newPlayer(t, c)
	play(o, days(2, 9))
	const asked = "at most 1% of the demand of 14 days may arrive in bad hours (more than a tenth of the hour's demand waits longer than 30s)"
	r := o.Report()
	if !strings.HasPrefix(r.Message(), asked) || strings.Contains(r.Message(), "Warning") {
		t.Error(r.Message())
	}
	r.Verdict = objective.Overspent
	if got := r.Message(); !strings.Contains(
		got,
		"of the demand of the last 47 hours arrived in bad hours (more than",
	) ||
		!strings.Contains(got, "is expected to arrive in bad hours with it") {
		t.Error(got)
	}
	r.Verdict = objective.FasterThanLead
	if got := r.Message(); !strings.HasPrefix(got, asked) || !strings.Contains(got, " in bad hours at ") {
		t.Error(got)
	}
	r.Budget.Over = 3 * 24 * time.Hour
	if got := r.Message(); !strings.Contains(
		got,
		"Warning: over is 3 days, which is short for badHours: on average one hour has 1.4%",
	) ||
		!strings.Contains(got, "at least 7d") {
		t.Error(got)
	}
	r.BadHours = false
	if got := r.Message(); strings.Contains(got, "Warning") || strings.Contains(got, "bad hours") {
		t.Error(got)
	}
}

// A goal of bad hours leaves less than half as many as the same share of late demand does.
func TestAGoalOfBadHoursLeavesFewer(t *testing.T) {
	const asked = 0.03
	byHours, byLateness := 0.0, 0.0
	const seeds = 3
	for seed := range uint64(seeds) {
		for _, one := range []struct {
			goal objective.Goal
			sum  *float64
		}{{objective.Goal{Late: asked, BadHours: true}, &byHours}, {objective.Goal{Late: asked}, &byLateness}} {
			c := config(t, asked)
			c.Goals = []objective.Goal{one.goal}
			o := newPlayer(t, c)
			play(o, jumpy(12, seed))
			served := o.Report().Served
			*one.sum += served.Bad / served.Arrived / seeds
		}
	}
	if 2*byHours > byLateness {
		t.Errorf("%.4f of the demand arrived in bad hours, and %.4f with a goal of late demand", byHours, byLateness)
	}
}
