package ahead

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/decide/trailing"
)

// Config says which model forecasts what.
type Config struct {
	// Model is fitted to the means of blocks of the demand.
	Model forecast.Model
	// Step of the demand.
	Step time.Duration
	// Block is the model's step: a whole number of the demand's.
	Block time.Duration
	// Window ahead of which the highest point counts, at least a block.
	Window time.Duration
	// History is the most that a fit looks back on, Refit how often the model is fitted.
	History, Refit time.Duration
}

// validate returns what makes a Config useless.
func (c Config) validate() error {
	switch {
	case c.Model == nil:
		return errors.New("ahead: no model")
	case c.Step <= 0 || c.Block < c.Step || c.Block%c.Step != 0:
		return fmt.Errorf("ahead: %s: blocks of %s and steps of %s, want a whole number of steps",
			c.Model.Name(), c.Block, c.Step)
	case c.Window < c.Block || c.History < c.Block || c.Refit < c.Block:
		return fmt.Errorf(
			"ahead: %s: a window of %s, a history of %s and a refit every %s, want a block of %s at least",
			c.Model.Name(),
			c.Window,
			c.History,
			c.Refit,
			c.Block,
		)
	default:
		return nil
	}
}

// Model forecasts the maximum of the window ahead by the points of a forecasting model.
//
// Points are means: the highest of them is lower than the mean of the highest. What is missing is learnt by whoever uses
// it.
type Model struct {
	config Config
	// blocks are the newest means, a ring; seen counts all of them.
	blocks []float64
	seen   int
	// sum and known are of the block under way, which is within steps old.
	sum    float64
	known  int
	within int
	// fitted is nil before the first fit.
	fitted forecast.Fitted
	// points are the forecasts of the blocks from the one under way on, and highest the largest up to each.
	points, highest []float64
}

// New has seen nothing yet.
func New(c Config) (*Model, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	n := int((c.Window+c.Block-1)/c.Block) + 1
	return &Model{
		config: c, blocks: make([]float64, int(c.History/c.Block)),
		points: make([]float64, n), highest: make([]float64, n),
	}, nil
}

// Push takes the demand of a step, NaN for a gap, and gives Max.
func (m *Model) Push(demand float64) float64 {
	if !math.IsNaN(demand) {
		m.sum += demand
		m.known++
	}
	m.within++
	if m.within == int(m.config.Block/m.config.Step) {
		m.endBlock()
	}
	return m.Max()
}

// Max is the highest point of the blocks that the window touches: a window of 6 minutes at the third minute of a block
// of 5 ends in the next one. NaN before the first fit.
func (m *Model) Max() float64 {
	if m.fitted == nil {
		return math.NaN()
	}
	end := time.Duration(m.within)*m.config.Step + m.config.Window
	return m.highest[int((end-1)/m.config.Block)]
}

// endBlock moves the model on by a block, or fits it anew.
func (m *Model) endBlock() {
	mean := math.NaN()
	if m.known > 0 {
		mean = m.sum / float64(m.known)
	}
	m.sum, m.known, m.within = 0, 0, 0
	m.blocks[m.seen%len(m.blocks)] = mean
	m.seen++
	if m.fitted != nil {
		m.fitted.Update(mean)
	}
	if m.seen%int(m.config.Refit/m.config.Block) == 0 {
		m.fit()
	}
	if m.fitted == nil {
		return
	}
	m.fitted.PointsTo(m.points)
	highest := math.NaN()
	for i, point := range m.points {
		highest = trailing.Most(highest, point)
		m.highest[i] = highest
	}
}

// fit fits the model to the newest history. One that does not fit (too little history, no optimum) leaves the one before.
func (m *Model) fit() {
	fitted, err := m.config.Model.Fit(m.newest())
	if err == nil {
		m.fitted = fitted
	}
}

// newest is the history, oldest first. It starts at no time in particular: time is the number of blocks.
func (m *Model) newest() forecast.Series {
	n := min(m.seen, len(m.blocks))
	s := forecast.Series{Start: time.Unix(0, 0).UTC(), Step: m.config.Block, Values: make([]float64, n)}
	for i := range s.Values {
		s.Values[i] = m.blocks[(m.seen-n+i)%len(m.blocks)]
	}
	return s
}
