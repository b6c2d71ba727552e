package demand_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/demand"
)

func TestShapes(t *testing.T) {
	counter := make([]float64, 2*day)
	for i := 1; i < len(counter); i++ {
		counter[i] = counter[i-1] + math.Floor(3+2*math.Sin(float64(i)))
	}
	restarted := slices.Clone(counter)
	for i := range restarted[day+500:] {
		restarted[day+500+i] -= 0.3 * counter[day+500]
	}
	growing := level(2*day, 100)
	for i := range growing {
		growing[i] *= 1 + float64(i)/day
	}
	stairs := make([]float64, 2*day) // Replicas, or a demand of few requests: it rises, and does not fall for a day.
	for i := range stairs {
		stairs[i] = math.Floor(float64(i) / 400)
	}
	sawtooth := make([]float64, 2*day) // A queue that fills and is emptied every half hour.
	for i := range sawtooth {
		sawtooth[i] = float64(i % 60)
	}
	for name, c := range map[string]struct {
		samples []float64
		want    demand.Shape
	}{
		"a counter":                               {counter, demand.Counter},
		"a counter of which a process restarts":   {restarted, demand.Counter},
		"a young counter":                         {counter[:day-1], ""},
		"a demand":                                {level(2*day, 100), ""},
		"a demand that doubles in a day":          {growing, ""},
		"a demand in stairs":                      {stairs, ""},
		"a sawtooth":                              {sawtooth, ""},
		"a constant":                              {flat(2*day, 40), ""},
		"frozen for an hour":                      {slices.Concat(level(2*day, 100), flat(120, 97)), demand.Frozen},
		"frozen for half an hour":                 {slices.Concat(level(2*day, 100), flat(60, 97)), ""},
		"frozen in between":                       {slices.Concat(level(day, 100), flat(240, 97), level(day/2, 100)), ""},
		"none for an hour":                        {slices.Concat(level(2*day, 100), flat(120, 0)), ""},
		"no sample for an hour":                   {slices.Concat(level(2*day, 100), flat(120, gap)), ""},
		"hardly a sample":                         {flat(2*day, gap), ""},
		"a level that is always held for an hour": {slices.Concat(flat(day, 3), flat(day/2, 4), flat(day/2, 3)), ""},
	} {
		if got := demand.ShapeOf(c.samples, classifyStep); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := demand.ShapeOf(counter, time.Hour); got != "" {
		t.Errorf("with a step of an hour: %q", got)
	}
}

// No recorded demand is refused: what looks like a counter is one.
func TestRecordedDemandHasNoShape(t *testing.T) {
	for name, s := range traces(t) {
		perDay := int(demand.ShapeTime / s.Step)
		for end := perDay; end <= len(s.Values); end += max(1, perDay/48) {
			if shape := demand.ShapeOf(s.Values[:end], s.Step); shape == demand.Counter {
				t.Errorf("%s: %s at %s", name, shape, s.TimeAt(end-1))
				break
			}
		}
	}
}
