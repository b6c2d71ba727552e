package forecaster_test

import (
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// In a history of minutes a step that has ended buys no second one of its size: two lead windows after it at most half as much again
// is served, before that a step as large is possible.
func TestAStepThatHasEnded(t *testing.T) {
	for _, minutes := range []int{5, 20, 60, 240} {
		c := asked()
		c.Step, c.Settings.Lead = 30*time.Second, 5*time.Minute
		c.Window = leadtime.Window(c.Settings.Lead)
		past := history(2*minutes, func(int) float64 { return 25 })
		past.Step = c.Step
		f := forecaster.New(c, past)
		for at := time.Duration(0); at < 2*time.Hour; at += c.Step {
			f.Step(plain(45))
			if got := describe(f).Decision.Value; at > 2*c.Window && got > 1.5*45 || got > 2.5*45 {
				t.Fatalf("%s after a step from 25 to 45 in a history of %d minutes %v is served", at, minutes, got)
			}
		}
	}
}
