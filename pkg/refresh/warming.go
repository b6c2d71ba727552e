package refresh

import (
	"fmt"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/snapshot"
)

// warming says that a young Forecast gains nothing yet, and until when: a season must have been seen once before anything
// is known of its next hour, and gaps put that off.
//
// Worked: 7 h seen, newest at 12:00, of a season of 24 h are until 05:00 of the next day at the earliest.
func (v *view) warming(e *snapshot.Entry) string {
	if v.span >= v.season {
		return fmt.Sprintf("%s of history, no model has a score: gains nothing over a reactive rule until one has; %s",
			short(v.span), e.ModelReason())
	}
	until := e.SampleTime.Add(v.season - v.span).Round(time.Minute).UTC().Format("2006-01-02 15:04 UTC")
	const words = "%s of history: gains nothing over a reactive rule before it has a season (%s), %s at the earliest; %s"
	return fmt.Sprintf(words, short(v.span), short(v.season), until, e.ModelReason())
}

// short is a duration in whole minutes without the zeros at its end.
func short(d time.Duration) string {
	text := strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	if text == "" {
		return "0m"
	}
	return text
}
