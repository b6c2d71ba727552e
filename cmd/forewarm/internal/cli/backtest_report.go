package cli

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/forecast/backtest"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// report is the result of a backtest.
type backtestReport struct {
	history history.History
	plan    plan
	played  played
	scores  [][]score
	// lead is the index of the lead time among the horizons.
	lead int
	// windows are the highest values of the lead time that all models are judged by, NaN where they are not.
	windows []float64
}

func newReport(h history.History, p plan, played played) backtestReport {
	r := backtestReport{
		history: h, plan: p, played: played, scores: scores(p, played.models), lead: slices.Index(p.horizons, p.lead),
	}
	_, r.windows = commonValues(tracksOf(played.models, r.lead))
	return r
}

// partial reports whether the backtest was interrupted.
func (r backtestReport) partial() bool { return r.played.complete < r.played.stretches }

// judged is the time that forecasts were judged over.
func (r backtestReport) judged() (from, to time.Time) {
	origins := r.plan.stretches()
	return r.plan.series.TimeAt(origins[0]), r.plan.series.TimeAt(origins[r.played.complete])
}

// scoreOf is the score of a model at a horizon; ok is false where it has none.
func (r backtestReport) scoreOf(model, horizon int) (s score, ok bool) {
	if r.scores[model] == nil {
		return score{}, false
	}
	return r.scores[model][horizon], true
}

// loss is that of a model's window at the verdict's level, NaN where it has none.
func (r backtestReport) loss(model, horizon int) float64 {
	if s, ok := r.scoreOf(model, horizon); ok {
		return s.loss[verdictLevel]
	}
	return math.NaN()
}

// find is the index of a model, −1 where it takes no part.
func (r backtestReport) find(name string) int {
	return slices.IndexFunc(r.played.models, func(m modelResult) bool { return m.name == name })
}

// best is the model of least loss at the lead time among the free ones or the others, −1 where none has any.
func (r backtestReport) best(free bool) int {
	best := -1
	for i, m := range r.played.models {
		loss := r.loss(i, r.lead)
		if m.baseline == free && !math.IsNaN(loss) && (best < 0 || loss < r.loss(best, r.lead)) {
			best = i
		}
	}
	return best
}

// ranked are the models with a score at a horizon, by the loss of its window.
func (r backtestReport) ranked(horizon int) []int {
	var out []int
	for i := range r.played.models {
		if _, ok := r.scoreOf(i, horizon); ok {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(r.loss(a, horizon), r.loss(b, horizon)) })
	return out
}

// relativeToLast are a model's error and its window's loss as shares of the last value's.
func (r backtestReport) relativeToLast(model, horizon int) (mae, loss float64) {
	last, ok := r.scoreOf(r.find(windowpeak.LastValue), horizon)
	own, okToo := r.scoreOf(model, horizon)
	if !ok || !okToo {
		return math.NaN(), math.NaN()
	}
	return ratio(own.mae, last.mae), ratio(own.loss[verdictLevel], last.loss[verdictLevel])
}

// ratio is NaN where there is nothing to be a share of.
func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

// track has a model's forecasts at the lead time.
func (r backtestReport) track(model int) *backtest.Track {
	return &r.played.models[model].tracks[r.lead]
}

// notes are the remarks of the report.
func (r backtestReport) notes() []string {
	notes := slices.Clone(r.plan.notes)
	if r.unjudged() == "" && r.verdict() != "" && !r.worthIt() {
		notes = append(notes,
			"\"forewarm simulate\" may still find Forewarm cheaper: it judges the outcome under an HPA, "+
				"where target, headroom and lead time count too, and backtest the error of the forecast window peak")
	}
	for _, m := range r.played.models {
		if m.err != nil {
			notes = append(notes, m.name+" is left out: "+reason(m.err))
		}
	}
	if r.partial() {
		notes = append(notes,
			fmt.Sprintf("interrupted: %d of %d parts were judged", r.played.complete, r.played.stretches))
	}
	return notes
}

// reason is why a model cannot be fitted, without where in the backtest that was.
func reason(err error) string {
	return regexp.MustCompile(`^backtest: fit at origin \d+: `).ReplaceAllString(err.Error(), "")
}
