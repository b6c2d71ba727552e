package warmpool

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// OutlookOf is what a Forecast's entry says of its demand at the time now. The entry may be nil, before there is one.
func OutlookOf(e *snapshot.Entry, now time.Time) Outlook {
	if e == nil {
		return Outlook{Doubt: "not read yet"}
	}
	out := Outlook{Served: e.Decision.Value, Observed: e.Observed, Recent: e.Recent}
	// The candidate that serves may forecast the lead window alone; a pool looks further.
	skill := e.Skill
	i := slices.IndexFunc(e.Candidates, func(c snapshot.Candidate) bool {
		return strings.EqualFold(c.Name, e.PathModel)
	})
	if i >= 0 {
		out.Windows, skill = e.Candidates[i].Windows, e.Candidates[i].Skill
	}
	out.Doubt = doubt(e, now, skill, len(out.Windows) > 0)
	return out
}

// poorest is the least skill against the last value that is planned by. A baseline that serves may be a little below 0
// before another takes its place.
const poorest = -0.05

// doubt says why an entry is nothing to plan by, in words that continue "llama is …".
func doubt(e *snapshot.Entry, now time.Time, skill float64, distributed bool) string {
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
		return "falling back on what was observed"
	case skill < poorest:
		return fmt.Sprintf("%.0f %% worse forecast than by its last value", -100*skill)
	case !distributed:
		return "without a distribution yet"
	}
	return ""
}
