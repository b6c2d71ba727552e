package refresh

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// warming says that a young Forecast gains nothing yet, and until when: a season must have been seen once before anything
// is known of its next hour, and gaps put that off.
//
// Worked: 7 h seen, newest at 12:00, of a season of 24 h are until 05:00 of the next day at the earliest.
func (v *view) warming(e *snapshot.Entry) string {
	if v.span >= v.season {
		return fmt.Sprintf("%s of history, no model has a score: gains nothing over a reactive rule until one has; %s",
			humanize.Span(v.span.Round(time.Minute)), e.ModelReason())
	}
	until := e.SampleTime.Add(v.season - v.span).Round(time.Minute).UTC().Format("2006-01-02 15:04 UTC")
	const words = "%s of history: gains nothing over a reactive rule before it has a season (%s), %s at the earliest; %s"
	return fmt.Sprintf(
		words,
		humanize.Span(v.span.Round(time.Minute)),
		humanize.Span(v.season.Round(time.Minute)),
		until,
		e.ModelReason(),
	)
}
