package objective_test

import (
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide/objective"
)

// TestBadHoursInWords: a count with its share, and the worst hours by name.
func TestBadHoursInWords(t *testing.T) {
	var r objective.BadHours
	if got := r.String(); got != "" {
		t.Errorf("before an hour is judged: %q", got)
	}
	r.Judged = 336
	if got := r.String(); got != "0 of 336 hours were bad" {
		t.Error(got)
	}
	r.Share, r.Count = .009, 5
	at := time.Date(2026, 11, 16, 7, 0, 0, 0, time.UTC)
	for i, late := range []float64{.2, .43, .11, .3} {
		r.Worth = append(r.Worth, objective.BadHour{
			Start: at.Add(time.Duration(i) * 24 * time.Hour), Late: late, Demand: .002, Replayed: i == 0,
		})
	}
	want := "5 of 336 hours were bad, with 0.9% of the demand: Tue 17 Nov 07:00 to 08:00 UTC (43% late); " +
		"Thu 19 Nov 07:00 to 08:00 UTC (30% late); Mon 16 Nov 07:00 to 08:00 UTC (20% late, replayed); and 2 more"
	if got := r.String(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestOverspentByBadHours: the verdict, the budget and the headline count bad hours where the objective limits them, and the burn rate
// late demand.
func TestOverspentByBadHours(t *testing.T) {
	c := config(t, 0.01)
	c.Goals[0].BadHours, c.Start = true, monday
	p := newPlayer(t, c)
	demand := days(4, 5)
	p.Publish(servedFrom(monday.Add(60*time.Hour), 20))
	play(p, demand)
	r := p.Report()
	if !r.BadHours || r.Verdict != objective.Overspent && r.Verdict != objective.FasterThanLead {
		t.Errorf("%s: %s", r.Verdict, r.Message())
	}
	if r.Budget.Spent != r.Served.Bad || r.Budget.Allowed != .01*r.Served.Judged || r.Budget.BurnHour < 20 {
		t.Errorf("the budget is %+v of %+v", r.Budget, r.Served)
	}
	for _, words := range []string{"may arrive in bad hours", " to 1", "% late"} {
		if !strings.Contains(r.Message(), words) && r.Verdict == objective.Overspent {
			t.Errorf("%q lacks %q", r.Message(), words)
		}
	}
	if !strings.HasPrefix(r.Headline(false), "Too late: ") || !strings.Contains(r.Headline(false), "in bad hours") ||
		!strings.Contains(r.Details(false), "uses 1,") {
		t.Error(r.Headline(false), r.Details(false))
	}
}
