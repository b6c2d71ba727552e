package compare

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// history is the demand on the grid of the HPA's controller, and the recorded demand.
type history struct {
	// demand is the interactive demand. deferrable is the work that may wait, empty if all demand is interactive. total is the sum of both.
	demand, deferrable, total forecast.Series
	recorded                  forecast.Series
	// missing is the share of the recorded steps that are gaps, and gap is the longest gap.
	missing float64
	gap     time.Duration
	warmUp  time.Duration
	// peak is the highest demand in a step of the grid.
	peak float64
	// done is closed when the results are no longer needed.
	done <-chan struct{}
}

const (
	// The first warmUp of a history is simulated but not counted. In a history shorter than shortHistory, this is 1/warmUpPart of it.
	warmUp, shortHistory, warmUpPart = 2 * day, 4 * day, 10
	// minHistory is the shortest history that can be judged. It must also have minWindows of the look-ahead windows.
	minHistory, minWindows = time.Hour, 10
	// coarsest is the longest step of a history, unless the look-ahead is longer. Nothing is known about the demand within a step, and the
	// interpolation would make any policy look good.
	coarsest = time.Hour
	// maxHistory limits the work. Each step of the grid takes the same work.
	maxHistory = 366 * day
)

// loadHistory interpolates the history on the grid, and rejects a history that cannot be judged.
func (c *Config) loadHistory() (history, error) {
	h := history{recorded: c.Demand}
	if err := validateRecorded(c.Demand); err != nil {
		return h, err
	}
	step, planned := c.Demand.Step, c.plannedLead()
	if most := max(coarsest, planned); step > most {
		return h, fmt.Errorf(
			"a history in steps of %s is too coarse to judge a lead time of %s, because it does not show the "+
				"demand within a step; use steps of at most %s, ideally of one minute",
			humanize.Span(step),
			humanize.Span(planned),
			humanize.Span(most),
		)
	}
	long := h.span()
	if c.Demand.Len() > int(maxHistory/step) {
		return h, fmt.Errorf(
			"a history of %s is longer than the maximum of %s; use only its newest weeks (two weeks are "+
				"enough to show daily and weekly patterns)",
			formatDays(long),
			formatDays(maxHistory),
		)
	}
	demand, err := toGrid(c.Demand)
	if err != nil {
		return h, err
	}
	h.total = demand
	h.demand, h.deferrable = c.split(demand)
	h.missing, h.gap = gapShare(c.Demand)
	for _, v := range demand.Values {
		h.peak = math.Max(h.peak, v)
	}
	if h.peak == 0 {
		return h, fmt.Errorf("the demand is 0 in the whole history; check that %s is the demand", c.Source)
	}
	if least := max(minHistory, minWindows*c.window()); long < least {
		return h, fmt.Errorf(
			"a history of %s is too short to judge a lead time of %s: %w; use at least %s, and two weeks to "+
				"show daily and weekly patterns",
			long,
			planned,
			forecast.ErrTooShort,
			least,
		)
	}
	h.warmUp = warmUp
	if long < shortHistory {
		h.warmUp = (long / warmUpPart).Truncate(sync)
	}
	return h, nil
}

// validateRecorded reports the first value that cannot be demand, and its time.
func validateRecorded(s forecast.Series) error {
	if err := s.Check(2); err != nil {
		return fmt.Errorf("the history: %w", err)
	}
	for i, v := range s.Values {
		if v < 0 {
			return fmt.Errorf("the history is %v at %s, but demand is never negative; for a counter, use its rate",
				v, s.TimeAt(i).UTC().Format(time.RFC3339))
		}
	}
	return nil
}

// toGrid converts a series to the grid. It uses means if the series is finer than the grid, and interpolates linearly between observations
// if it is coarser. It also interpolates over gaps.
func toGrid(s forecast.Series) (forecast.Series, error) {
	if s.Step >= sync {
		return simulate.Resample(s, sync)
	}
	fine, err := simulate.Resample(s, s.Step)
	if err != nil {
		return fine, err
	}
	out := forecast.Series{Start: fine.Start, Step: sync}
	for from := time.Duration(0); from+sync <= time.Duration(fine.Len())*fine.Step; from += sync {
		out.Values = append(out.Values, meanBetween(fine, from, from+sync))
	}
	return out, nil
}

// meanBetween returns the mean of a series between two times after its start. Every value applies to its whole step.
func meanBetween(s forecast.Series, from, to time.Duration) float64 {
	sum := 0.0
	for i := int(from / s.Step); time.Duration(i)*s.Step < to; i++ {
		begin, end := time.Duration(i)*s.Step, time.Duration(i+1)*s.Step
		sum += s.Values[i] * float64(min(end, to)-max(begin, from))
	}
	return sum / float64(to-from)
}

// gapShare returns the share of the steps that are missing, and the longest run of missing steps.
func gapShare(s forecast.Series) (share float64, longest time.Duration) {
	run := time.Duration(0)
	for _, v := range s.Values {
		if !math.IsNaN(v) {
			run = 0
			continue
		}
		run += s.Step
		longest = max(longest, run)
	}
	return 1 - float64(s.Observed())/float64(s.Len()), longest
}

// span returns the length of the recorded history.
func (h *history) span() time.Duration { return time.Duration(h.recorded.Len()) * h.recorded.Step }

// split divides the demand into interactive demand and work that may wait.
func (c *Config) split(total forecast.Series) (interactive, deferrable forecast.Series) {
	if c.Deferrable == 0 {
		return total, forecast.Series{}
	}
	part := func(share float64) forecast.Series {
		out := forecast.Series{Start: total.Start, Step: total.Step, Values: make([]float64, total.Len())}
		for i, v := range total.Values {
			out.Values[i] = share * v
		}
		return out
	}
	return part(1 - c.Deferrable), part(c.Deferrable)
}
