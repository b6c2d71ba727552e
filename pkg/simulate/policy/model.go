package policy

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/decide/trailing"
	"github.com/forewarm/forewarm/pkg/simulate"
)

// Modelled says how a forecasting model is made a policy.
type Modelled struct {
	// Model is fitted to the means of blocks of the demand.
	Model forecast.Model
	// Block is the model's step: a whole number of observations.
	Block time.Duration
	// Window ahead of which the highest point counts, at least a block.
	Window time.Duration
	// History is the most that a fit looks back on, Refit how often it is fitted.
	History, Refit time.Duration
	// Refresh is the time between observations.
	Refresh time.Duration
}

// validate returns what makes a Modelled useless.
func (m Modelled) validate() error {
	switch {
	case m.Model == nil:
		return errors.New("policy: no model")
	case m.Refresh <= 0 || m.Block < m.Refresh || m.Block%m.Refresh != 0:
		return fmt.Errorf("policy %s: blocks of %s observed every %s, want a whole number of observations",
			m.Model.Name(), m.Block, m.Refresh)
	case m.Window < m.Block || m.History < m.Block || m.Refit < m.Block:
		return fmt.Errorf(
			"policy %s: a window of %s, a history of %s and a refit every %s, want a block of %s at least",
			m.Model.Name(),
			m.Window,
			m.History,
			m.Refit,
			m.Block,
		)
	default:
		return nil
	}
}

// Model serves the highest point that a model forecasts for the window ahead, and never less than is observed. Until
// there is enough history for a fit it serves what is observed.
//
// Points are means: the highest of them is lower than the mean of the highest. What the margin is worth beyond them is
// for the HPA's target to say, as it is for those who serve a forecast today.
type Model struct {
	spec     Modelled
	observed *Observed
	// blocks are the means of the past, the oldest first; sum and known are of the block under way.
	blocks forecast.Series
	sum    float64
	known  int
	seen   int
	// fitted is nil before the first fit.
	fitted forecast.Fitted
	// points are the forecasts of the blocks from the one under way on, and highest the largest up to each.
	points, highest []float64
}

// NewModel has seen nothing yet.
func NewModel(spec Modelled) (*Model, error) {
	if err := spec.validate(); err != nil {
		return nil, err
	}
	ahead := int((spec.Window+spec.Block-1)/spec.Block) + 1
	return &Model{
		spec: spec, observed: NewObserved(), blocks: forecast.Series{Step: spec.Block},
		points: make([]float64, ahead), highest: make([]float64, ahead),
	}, nil
}

// Serve is the larger of what is observed and the highest forecast for the window.
func (p *Model) Serve(o simulate.Observation) float64 {
	return trailing.Most(p.observed.Serve(o), p.Ahead(o))
}

// Ahead is the highest forecast for the window; NaN before the first fit.
func (p *Model) Ahead(o simulate.Observation) float64 {
	p.learn(o)
	return p.ahead()
}

// ahead is the highest point of the blocks that the window touches: a window of 6 minutes at the third minute of a block
// of 5 ends in the next one.
func (p *Model) ahead() float64 {
	if p.fitted == nil {
		return math.NaN()
	}
	within := time.Duration(p.seen%p.perBlock()) * p.spec.Refresh
	return p.highest[int((within+p.spec.Window-1)/p.spec.Block)]
}

func (p *Model) perBlock() int { return int(p.spec.Block / p.spec.Refresh) }

// learn takes what arrived since the observation before into the block under way, and ends the block if that was its
// last. The first observation has nothing before it.
func (p *Model) learn(o simulate.Observation) {
	if p.blocks.Start.IsZero() {
		p.blocks.Start = o.At
		return
	}
	if !math.IsNaN(o.Arrived) {
		p.sum += o.Arrived
		p.known++
	}
	p.seen++
	if p.seen%p.perBlock() == 0 {
		p.endBlock()
	}
}

// endBlock moves the model on by a block, or fits it anew.
func (p *Model) endBlock() {
	mean := math.NaN()
	if p.known > 0 {
		mean = p.sum / float64(p.known)
	}
	p.sum, p.known = 0, 0
	p.blocks.Values = append(p.blocks.Values, mean)
	if p.fitted != nil {
		p.fitted.Update(mean)
	}
	if p.blocks.Len()%int(p.spec.Refit/p.spec.Block) == 0 {
		p.fit()
	}
	if p.fitted == nil {
		return
	}
	p.fitted.PointsTo(p.points)
	highest := math.NaN()
	for i, point := range p.points {
		highest = trailing.Most(highest, point)
		p.highest[i] = highest
	}
}

// fit fits the model to the newest history. One that does not fit (too little history, no optimum) leaves the one before.
func (p *Model) fit() {
	n := p.blocks.Len()
	fitted, err := p.spec.Model.Fit(p.blocks.Slice(max(0, n-int(p.spec.History/p.spec.Block)), n))
	if err == nil {
		p.fitted = fitted
	}
}
