package warmpool

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// OutlookOf returns the outlook of a Forecast's entry at the time now. The entry may be nil, before there is one.
func OutlookOf(e *snapshot.ForecastState, now time.Time) Outlook {
	if e == nil {
		return Outlook{Unreliable: "not loaded yet"}
	}
	out := Outlook{Served: e.Decision.Value, Observed: e.Observed, Recent: e.Recent}
	// The selected candidate may forecast the lead window alone; a pool looks further ahead.
	skill := e.Skill
	i := slices.IndexFunc(e.Candidates, func(c snapshot.Candidate) bool {
		return strings.EqualFold(c.Name, e.PathModel)
	})
	if i >= 0 {
		out.Windows, skill = e.Candidates[i].Windows, e.Candidates[i].Skill
	}
	out.Unreliable = unreliableReason(e, now, skill, len(out.Windows) > 0)
	return out
}

// minSkill is the lowest skill against the last value of a reliable member. The skill of a selected baseline may be a
// little below 0 before another replaces it.
const minSkill = -0.05

// unreliableReason returns why an entry is unreliable, in words that continue "llama is …"; empty where it is not.
func unreliableReason(e *snapshot.ForecastState, now time.Time, skill float64, distributed bool) string {
	switch state := e.StateAt(now); {
	case state == snapshot.Stale:
		return fmt.Sprintf("stale: its newest sample is %s old", humanize.Span(now.Sub(e.SampleTime)))
	case state == snapshot.Warming:
		return "still warming up"
	case state == snapshot.Pending:
		return "without a history yet"
	case state == snapshot.Invalid:
		return "invalid"
	case state == snapshot.FallingBack || e.Fallback:
		return "falling back"
	case skill < minSkill:
		return fmt.Sprintf("poorly forecast: its skill against the last value is %.0f %%, below %.0f %%",
			100*skill, 100*minSkill)
	case !distributed:
		return "without a forecast yet"
	}
	return ""
}
