package refresh

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// warmingMessage reports until when a new Forecast gains nothing: one season of history must exist before its next hour
// is known, and gaps delay that.
//
// Example: 7 h of a season of 24 h, the newest sample at 12:00: 05:00 of the next day at the earliest.
func (r *result) warmingMessage(e *snapshot.ForecastState) string {
	switch {
	case r.partial && r.wholeErr != nil:
		return fmt.Sprintf("the newest %s of history serves, because the whole could not be read yet: %s",
			humanize.Span(partialHistory), r.wholeErr)
	case r.partial:
		return fmt.Sprintf("the newest %s of history serves while the whole is being read",
			humanize.Span(partialHistory))
	case r.span >= r.season:
		return fmt.Sprintf("%s of history, but no model has a score yet: without one the forecast gains nothing "+
			"over the observed demand; %s", humanize.Span(r.span.Round(time.Minute)), e.ModelReason())
	}
	until := e.SampleTime.Add(r.season - r.span).Round(time.Minute).UTC().Format("2006-01-02 15:04 UTC")
	const words = "%s of history: the forecast gains nothing over the observed demand before one season (%s), %s at the earliest; %s"
	return fmt.Sprintf(words, humanize.Span(r.span.Round(time.Minute)), humanize.Span(r.season.Round(time.Minute)),
		until, e.ModelReason())
}
