package windowpeak

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/pkg/core/trailing"
)

// ModelConfig says which model forecasts what.
type ModelConfig struct {
	// Model is fitted to the means of blocks of the demand.
	Model forecast.Model
	// Step of the demand.
	Step time.Duration
	// Block is the model's step: a whole number of the demand's.
	Block time.Duration
	// Window ahead of which the highest point counts, at least a block.
	Window time.Duration
	// History is the most that a fit looks back on.
	History time.Duration
	// Refit is how often the model is fitted; 0 means whenever the history has grown fourfold (see growth).
	Refit time.Duration
	// Grown is the history from which on the coefficients are of much: what the regression reads, and the order of an ARIMA;
	// 0 means three days.
	Grown time.Duration
}

// A model is fitted whenever its history has grown fourfold: of a day's season after 68 minutes, 4.5 and 18 hours, 3 and 12
// days. Between fits its state moves on with every block, and the coefficients of a demand hardly change: fits every six hours
// lead to no smaller loss on recorded demand.
const (
	growth    = 4
	youngFits = growth * growth * growth
	grownUp   = 3 // seasons
)

// validate returns what makes a ModelConfig useless.
func (c ModelConfig) validate() error {
	switch {
	case c.Model == nil:
		return errors.New("window peak: no model")
	case c.Step <= 0 || c.Block < c.Step || c.Block%c.Step != 0:
		return fmt.Errorf("window peak: %s: blocks of %s and steps of %s, want a whole number of steps",
			c.Model.Name(), c.Block, c.Step)
	case c.Window < c.Block || c.History < c.Block || c.Refit != 0 && c.Refit < c.Block:
		return fmt.Errorf(
			"window peak: %s: a window of %s, a history of %s and a refit every %s, want a block of %s at least",
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
	config ModelConfig
	// blocks are the newest means, as far as the next fit looks back on them, which is due after so many; seen counts all.
	blocks []float64
	next   int
	seen   int
	// sum and known are of the block under way, which is within steps old.
	sum    float64
	known  int
	within int
	// fitted is nil before the first fit; err is why the newest one failed.
	fitted forecast.Fitted
	err    error
	// early: it is fitted as soon as it can be.
	early bool
	// first is when it is fitted for the first time at the latest, in blocks.
	first int
	// points are the forecasts of the blocks from the one under way on, and highest the largest up to each.
	points, highest []float64
}

// NewModel has seen nothing yet.
func NewModel(c ModelConfig) (*Model, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	n := c.blocksIn(c.Window)
	m := &Model{
		config: c, err: forecast.ErrTooShort, points: make([]float64, n), highest: make([]float64, n),
	}
	m.next = m.nextFit()
	return m, nil
}

// blocksIn is how many blocks a window touches at most.
func (c ModelConfig) blocksIn(window time.Duration) int { return int((window+c.Block-1)/c.Block) + 1 }

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
	return m.highest[m.block(m.config.Window)]
}

// block is which of the blocks a window ends in, 0 being the one under way.
func (m *Model) block(window time.Duration) int {
	return int((time.Duration(m.within)*m.config.Step + window - 1) / m.config.Block)
}

// MaximaTo writes the highest point of each of several windows, in steps and ascending, to dst: NaN before the first fit.
// The scratch is made longer where it must be.
func (m *Model) MaximaTo(dst []float64, windows []int, scratch []float64) []float64 {
	if m.fitted == nil {
		for i := range windows {
			dst[i] = math.NaN()
		}
		return scratch
	}
	scratch = m.pointsTo(scratch, windows[len(windows)-1])
	highest, n := math.NaN(), 0
	for i, w := range windows {
		for ; n <= m.block(time.Duration(w)*m.config.Step); n++ {
			highest = trailing.Most(highest, scratch[n])
		}
		dst[i] = highest
	}
	return scratch
}

// pointsTo forecasts the blocks that a window of so many steps touches.
func (m *Model) pointsTo(scratch []float64, steps int) []float64 {
	n := m.config.blocksIn(time.Duration(steps) * m.config.Step)
	if cap(scratch) < n {
		scratch = make([]float64, n)
	}
	scratch = scratch[:n]
	m.fitted.PointsTo(scratch)
	return scratch
}

// Path is the forecast of the next steps, each that of the block which it lies in; empty before the first fit.
func (m *Model) Path(steps int) forecast.Forecast {
	if m.fitted == nil {
		return forecast.Forecast{}
	}
	blocks := m.fitted.Forecast(m.config.blocksIn(time.Duration(steps) * m.config.Step))
	out := forecast.Forecast{Point: make([]float64, steps), StdErr: make([]float64, steps)}
	for i := range steps {
		at := m.block(time.Duration(i+1) * m.config.Step)
		out.Point[i], out.StdErr[i] = blocks.Point[at], blocks.StdErr[at]
	}
	return out
}

// Title is the model in the field's words: automatic models know their structure once fitted.
func (m *Model) Title() string {
	if named, ok := m.fitted.(interface{ Name() string }); ok {
		return named.Name()
	}
	return m.config.Model.Name()
}

// Err is why there is no forecast; nil where there is one.
func (m *Model) Err() error {
	if m.fitted != nil {
		return nil
	}
	return m.err
}

// endBlock moves the model on by a block, or fits it anew.
func (m *Model) endBlock() {
	mean := math.NaN()
	if m.known > 0 {
		mean = m.sum / float64(m.known)
	}
	m.sum, m.known, m.within = 0, 0, 0
	m.keep(mean)
	m.seen++
	if m.fitted != nil {
		m.fitted.Update(mean)
	}
	if m.seen == m.next {
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

// keep takes down a block, if the next fit will look back on it.
func (m *Model) keep(mean float64) {
	most := m.history()
	if m.seen < m.next-most {
		return
	}
	if len(m.blocks) >= 2*most {
		m.blocks = append(m.blocks[:0], m.blocks[len(m.blocks)-most:]...)
	}
	m.blocks = append(m.blocks, mean)
}

// history is the most blocks that a fit looks back on.
func (m *Model) history() int { return int(m.config.History / m.config.Block) }

// nextFit is the number of blocks after which the model is to be fitted next.
func (m *Model) nextFit() int {
	if m.config.Refit > 0 {
		every := int(m.config.Refit / m.config.Block)
		return (m.seen/every + 1) * every
	}
	if m.early && m.fitted == nil {
		return m.seen + 1
	}
	at := max(1, m.grownAt()/youngFits)
	for at <= m.seen {
		at *= growth
	}
	if m.first > m.seen {
		return min(at, m.first)
	}
	return at
}

// grown says that there was enough history for the coefficients to be of much.
func (m *Model) grown() bool { return m.seen >= m.grownAt() }

// grownAt is that history in blocks.
func (m *Model) grownAt() int { return int(cmp.Or(m.config.Grown, grownUp*Day) / m.config.Block) }

// fit fits the model to the newest history. One that does not fit (too little history, no optimum) leaves the one before.
func (m *Model) fit() {
	model := m.config.Model
	if found, ok := m.fitted.(*arima.Fitted); ok && m.seen > m.grownAt() {
		model = found.Order().Model() // Its search is most of the cost, and finds the same order again.
	}
	fitted, err := model.Fit(m.newest())
	if m.err = err; err == nil {
		m.fitted = fitted
	}
	if m.next = m.nextFit(); m.next-m.history() > m.seen {
		m.blocks = nil
	}
}

// newest is the history, oldest first. It starts at no time in particular: time is the number of blocks.
func (m *Model) newest() forecast.Series {
	from := max(0, len(m.blocks)-m.history())
	return forecast.Series{Start: time.Unix(0, 0).UTC(), Step: m.config.Block, Values: slices.Clone(m.blocks[from:])}
}
