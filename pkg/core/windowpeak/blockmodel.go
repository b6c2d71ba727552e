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
	"github.com/forewarm/forewarm/pkg/core/series"
)

// BlockModelConfig configures a BlockModel.
type BlockModelConfig struct {
	// Model is fitted to the means of blocks of the demand.
	Model forecast.Model
	// Step of the demand.
	Step time.Duration
	// Block is the model's step. It is a whole number of steps of the demand.
	Block time.Duration
	// Window is the time ahead whose highest point is the forecast. It is at least a block long.
	Window time.Duration
	// History is the longest history that a fit uses.
	History time.Duration
	// Refit is how often the model is fitted; 0 means each time the history has grown fourfold (see growth).
	Refit time.Duration
	// SkipQuiet postpones a fit, by up to three days, while its history is much quieter than the demand before that. The reason is that a
	// fit to a weekend does not know how fast the demand rises on a Monday.
	SkipQuiet bool
	// MatureAfter is the history after which the regression reads the model, and an ARIMA keeps its order; 0 means three days.
	MatureAfter time.Duration
}

// A model is refitted each time its history has grown fourfold. With a season of a day, this is after 68 minutes, 4.5 hours, 18 hours, 3
// days and 12 days. Between fits, every block updates the model's state. On recorded demand, refits every six hours did not reduce the
// loss.
const (
	growth        = 4
	youngFits     = growth * growth * growth
	matureSeasons = 3 // seasons
)

// validate returns the first problem.
func (c BlockModelConfig) validate() error {
	switch {
	case c.Model == nil:
		return errors.New("window peak: the model is missing")
	case c.Step <= 0 || c.Block < c.Step || c.Block%c.Step != 0:
		return fmt.Errorf("window peak: %s: blocks of %s, expected a whole number of steps of %s",
			c.Model.Name(), c.Block, c.Step)
	case c.Window < c.Block || c.History < c.Block || c.Refit != 0 && c.Refit < c.Block:
		return fmt.Errorf("window peak: %s: window %s, history %s and refit %s, expected at least a block of %s each",
			c.Model.Name(), c.Window, c.History, c.Refit, c.Block)
	default:
		return nil
	}
}

// BlockModel forecasts the maximum of the window ahead as the highest point of a model of the means of blocks.
//
// Points are means, so the highest point is lower than the mean maximum. The scores correct for this bias.
type BlockModel struct {
	config BlockModelConfig
	// blocks are the newest means, as far back as the next fit uses them. seen is the number of blocks so far, and next is the number at
	// which the next fit is due.
	blocks []float64
	next   int
	seen   int
	// sum and known are the sum and the number of the known samples of the current block, and within is the number of its steps so far.
	sum    float64
	known  int
	within int
	// total is the sum of the known blocks, and knownBlocks is their number.
	total       float64
	knownBlocks int
	// due is the number of blocks at which a postponed fit was due; 0 if no fit is postponed.
	due int
	// fitted is nil before the first fit. failed is the error of the newest fit.
	fitted forecast.Fitted
	failed error
	// early is true if the first fit is attempted after every block.
	early bool
	// first is the number of blocks after which the first fit is attempted at the latest; 0 for no such limit.
	first int
	// points are the forecasts from the current block on, and highest are their running maxima.
	points, highest []float64
	scratch         []float64
	// room is the buffer for the history. A later attempt reuses it if the history was too short for a first fit.
	room []float64
}

// NewBlockModel returns a model before its first step.
func NewBlockModel(c BlockModelConfig) (*BlockModel, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	n := c.blocksIn(c.Window)
	m := &BlockModel{
		config: c, failed: forecast.ErrTooShort, points: make([]float64, n), highest: make([]float64, n),
	}
	m.next = m.nextFit()
	return m, nil
}

// blocksIn returns the maximum number of blocks that a window can overlap.
func (c BlockModelConfig) blocksIn(window time.Duration) int {
	return int((window+c.Block-1)/c.Block) + 1
}

// Push records the demand of a step, NaN for a gap, and returns the median of the window peak.
func (m *BlockModel) Push(demand float64) float64 {
	if !math.IsNaN(demand) {
		m.sum += demand
		m.known++
	}
	m.within++
	if m.within == int(m.config.Block/m.config.Step) {
		m.endBlock()
	}
	return m.median()
}

// median returns the highest point of the blocks that the window overlaps; NaN before the first fit. For example, a window of 6 minutes
// that starts at the third minute of a 5-minute block ends in the next block.
func (m *BlockModel) median() float64 {
	if m.fitted == nil {
		return math.NaN()
	}
	return m.highest[m.block(m.config.Window)]
}

// block returns the index of the block in which a window ends; 0 is the current block.
func (m *BlockModel) block(window time.Duration) int {
	return int((time.Duration(m.within)*m.config.Step + window - 1) / m.config.Block)
}

// maximaTo writes the highest point of each window to dst; NaN before the first fit. The windows are in steps and ascend.
func (m *BlockModel) maximaTo(dst []float64, windows []int) {
	if m.fitted == nil {
		fillNaN(dst[:len(windows)])
		return
	}
	m.pointsTo(windows[len(windows)-1])
	highest, n := math.NaN(), 0
	for i, w := range windows {
		for ; n <= m.block(time.Duration(w)*m.config.Step); n++ {
			highest = series.MaxKnown(highest, m.scratch[n])
		}
		dst[i] = highest
	}
}

// pointsTo writes the forecasts of the blocks that a window overlaps to scratch. The window is in steps.
func (m *BlockModel) pointsTo(steps int) {
	n := m.config.blocksIn(time.Duration(steps) * m.config.Step)
	m.scratch = slices.Grow(m.scratch[:0], n)[:n]
	m.fitted.PointsTo(m.scratch)
}

// path returns the forecast of the next steps. Each step has the forecast of its block. It is empty before the first fit.
func (m *BlockModel) path(steps int) forecast.Forecast {
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

// title is the name for display. Once an automatic model is fitted, its title contains the structure that the fit selected.
func (m *BlockModel) title() string {
	if named, ok := m.fitted.(interface{ Name() string }); ok {
		return named.Name()
	}
	return m.config.Model.Name()
}

// err returns why there is no forecast; nil if there is one.
func (m *BlockModel) err() error {
	if m.fitted != nil {
		return nil
	}
	return m.failed
}

// endBlock updates the model with a block, and refits it when it is due.
func (m *BlockModel) endBlock() {
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
	if !math.IsNaN(mean) {
		m.total += mean
		m.knownBlocks++
	}
	if m.seen == m.next && !m.postpone() {
		m.fit()
	}
	if m.fitted == nil {
		return
	}
	m.fitted.PointsTo(m.points)
	highest := math.NaN()
	for i, point := range m.points {
		highest = series.MaxKnown(highest, point)
		m.highest[i] = highest
	}
}

// keep stores the mean of a block if the next fit will use it.
func (m *BlockModel) keep(mean float64) {
	most := m.history()
	if m.seen < m.next-most {
		return
	}
	if len(m.blocks) >= 2*most {
		m.blocks = append(m.blocks[:0], m.blocks[len(m.blocks)-most:]...)
	}
	m.blocks = append(m.blocks, mean)
}

// history returns the longest history of a fit, in blocks.
func (m *BlockModel) history() int { return int(m.config.History / m.config.Block) }

// nextFit returns the number of blocks after which the next fit is due.
func (m *BlockModel) nextFit() int {
	if m.config.Refit > 0 {
		every := int(m.config.Refit / m.config.Block)
		return (m.seen/every + 1) * every
	}
	if m.early && m.fitted == nil {
		return m.seen + 1
	}
	at := max(1, m.matureBlocks()/youngFits)
	for at <= m.seen {
		at *= growth
	}
	if m.first > m.seen {
		return min(at, m.first)
	}
	return at
}

// mature reports whether the history is at least MatureAfter long.
func (m *BlockModel) mature() bool { return m.seen >= m.matureBlocks() }

// matureBlocks returns MatureAfter in blocks.
func (m *BlockModel) matureBlocks() int {
	return int(cmp.Or(m.config.MatureAfter, matureSeasons*Day) / m.config.Block)
}

// fit fits the model to the newest history. If a fit fails, because there is too little history or no optimum, the previous fit stays.
func (m *BlockModel) fit() {
	model := m.config.Model
	if found, ok := m.fitted.(*arima.Fitted); ok && m.seen > m.matureBlocks() {
		model = found.Order().Model() // The search is most of the cost and would find the same order again.
	}
	fitted, err := model.Fit(m.newest())
	if m.failed = err; err == nil {
		m.fitted = fitted
	}
	if err == nil || !m.early { // The model may keep the history, or the next attempt is far away.
		m.room = nil
	}
	if m.next = m.nextFit(); m.next-m.history() > m.seen {
		m.blocks = nil
	}
}

// postpone reports whether a fit that is due is postponed by another hour.
func (m *BlockModel) postpone() bool {
	if !m.config.SkipQuiet || m.fitted == nil {
		return false
	}
	if m.due == 0 {
		m.due = m.seen
	}
	hour := max(1, int(time.Hour/m.config.Block))
	if m.seen-m.due >= maxPostponed*hour || !m.quiet() {
		m.due = 0
		return false
	}
	m.next = m.seen + hour
	return true
}

const (
	// maxPostponed is the maximum number of hours by which a fit is postponed.
	maxPostponed = 72
	// quietShare is the mean demand below which a history is quiet, as a share of the mean of all blocks.
	quietShare = 0.5
)

// quiet reports whether the mean demand of the history that the due fit would use is much lower than the mean of all blocks.
func (m *BlockModel) quiet() bool {
	sum, n := 0.0, 0
	for _, v := range m.newest().Values {
		if !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	return n > 0 && sum/float64(n) < quietShare*m.total/float64(m.knownBlocks)
}

// newest returns the history for the next fit, the oldest block first. Its start time is arbitrary, because only the number of blocks
// matters.
func (m *BlockModel) newest() forecast.Series {
	from := max(0, len(m.blocks)-m.history())
	m.room = append(m.room[:0], m.blocks[from:]...)
	return forecast.Series{Start: time.Unix(0, 0).UTC(), Step: m.config.Block, Values: m.room}
}

// coarseMax is the maximum over a long window. It keeps and drops blocks instead of single values, so that it needs a fraction of the
// memory.
type coarseMax struct {
	blocks *series.TrailingMax
	every  int
	seen   int
	block  float64
	top    float64
}

// coarseBlocks is the number of blocks in a long window.
const coarseBlocks = 288

// newCoarseMax returns an empty coarseMax over a window of that many values, 1 or more.
func newCoarseMax(window int) *coarseMax {
	every := max(1, window/coarseBlocks)
	return &coarseMax{
		blocks: series.NewTrailingMax(max(1, window/every)),
		every:  every,
		block:  math.NaN(),
		top:    math.NaN(),
	}
}

// push adds the next value, NaN if it is missing, and returns the maximum.
func (c *coarseMax) push(v float64) float64 {
	c.block = series.MaxKnown(c.block, v)
	c.seen++
	c.top = series.MaxKnown(c.blocks.Value(), c.block)
	if c.seen%c.every == 0 {
		c.blocks.Push(c.block)
		c.block = math.NaN()
	}
	return c.top
}

// value returns the maximum over the window; NaN if no value in it is known.
func (c *coarseMax) value() float64 { return c.top }
