package forecaster_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// A model that is refitted may be selected before its short windows are calibrated. Other horizons, and the path, are then
// another candidate's.
func TestANewModelLeavesNoHorizonWithoutAnAnswer(t *testing.T) {
	c := config()
	c.Step, c.Window = time.Second, 80*time.Second
	wave := func(i int) float64 { return 100 + 20*math.Sin(2*math.Pi*float64(i)/300) }
	h := history(4300, wave)
	h.Series.Step = c.Step
	f := forecaster.New(c, h)
	others := false
	for i := range 600 {
		f.Step(plain(wave(4300 + i)))
		if i%20 > 0 {
			continue
		}
		e := describe(f)
		e.State, e.StaleAt = snapshot.Ready, start.Add(100*24*time.Hour)
		_, err := e.Answer(decide.Overrides{Horizon: 30 * time.Second}, start)
		if err != nil || len(e.Path) == 0 {
			t.Fatalf("%d steps after, with %s selected: %v, and a path of %d steps by %s",
				i, e.Model, err, len(e.Path), e.PathModel)
		}
		others = others || e.PathModel != e.Model
	}
	if !others {
		t.Error("the selected candidate was never new: the test shows nothing")
	}
}
