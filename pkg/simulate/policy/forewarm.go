package policy

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/decide/margin"
	"github.com/forewarm/forewarm/pkg/decide/shape"
	"github.com/forewarm/forewarm/pkg/decide/trailing"
	"github.com/forewarm/forewarm/pkg/simulate"
)

// Decision says how forewarm decides.
type Decision struct {
	// Shape of the window's maximum is learnt with it, from the prior.
	Shape shape.Config
	Prior shape.Prior
	// Models forecast the window's maximum beside each other; their names are in the Shape.
	Models []Forecaster
	// Lead time; what is served is held for half of it.
	Lead time.Duration
	// K is the multiple of the spread that is served; 0 leaves it to the objective.
	K float64
	// Late is the objective, Prior what was late on other workloads under each multiple (see margin.Prior).
	Late   float64
	Margin []float64
	// Workload is what the shadows are like.
	Workload simulate.Config
}

// Forecaster forecasts the maximum of the window ahead.
type Forecaster interface {
	// Ahead takes the newest observation; NaN says that there is no forecast.
	Ahead(o simulate.Observation) float64
}

// Forewarm serves the median of the window's maximum and a multiple of its spread: one that is given, or the one under
// which shadows of the workload, on the demand so far, are as late as the objective allows.
type Forewarm struct {
	decision Decision
	learner  *shape.Learner
	maxima   []float64
	steps    int
	refit    int
	recent   []input
	hold     int
	shadows  *shadows
	margin   *margin.Margin
	// k is what is served with; it changes by the hour. grid and values are those of the shadows.
	k            float64
	grid, values []float64
}

// input is what a value is made of at one step.
type input struct{ now, median, spread float64 }

// at is the value under a multiple: never below the demand that is seen.
func (i input) at(k float64) float64 { return math.Max(i.now, i.median+k*i.spread) }

// NewForewarm has seen nothing yet.
func NewForewarm(d Decision) (*Forewarm, error) {
	f := &Forewarm{
		decision: d, learner: shape.NewLearner(d.Shape, d.Prior), maxima: make([]float64, len(d.Models)),
		hold: 1 + int(d.Lead/(2*d.Shape.Step)), refit: max(1, int(shape.RefitEvery/d.Shape.Step)),
	}
	if d.K > 0 {
		f.k = d.K
		return f, nil
	}
	if !(d.Late > 0 && d.Late < 1) {
		return nil, fmt.Errorf("policy: an objective of %v, want a share between 0 and 1", d.Late)
	}
	var err error
	f.margin, f.grid = margin.New(d.Margin), margin.Grid()
	f.k, _ = f.margin.K(d.Late)
	f.values = make([]float64, len(f.grid))
	f.shadows, err = newShadows(d.Workload, len(f.values))
	return f, err
}

// Serve is the value for the coming step.
func (f *Forewarm) Serve(o simulate.Observation) float64 {
	for i, m := range f.decision.Models {
		f.maxima[i] = m.Ahead(o)
	}
	if f.steps%f.refit == 0 {
		f.learner.Fit()
	}
	f.steps++
	f.learner.Push(o.Demand, f.maxima)
	w := f.learner.Window()
	f.recent = append(f.recent, input{f.learner.Features().Now(), w.Median, w.Spread})
	if len(f.recent) > f.hold {
		f.recent = append(f.recent[:0], f.recent[len(f.recent)-f.hold:]...)
	}
	if f.shadows == nil {
		return f.value(f.k)
	}
	f.shadows.play(f.values, o.Arrived)
	if f.shadows.anHour() {
		f.margin.Hour(f.shadows.score.Arrived, f.shadows.score.Late, f.shadows.score.Paid)
		f.k, _ = f.margin.K(f.decision.Late)
		f.shadows.reset()
	}
	for i, k := range f.grid {
		f.values[i] = f.value(k)
	}
	return f.value(f.k)
}

func (f *Forewarm) value(k float64) float64 {
	value := math.NaN()
	for _, i := range f.recent {
		value = trailing.Most(value, i.at(k))
	}
	return value
}
