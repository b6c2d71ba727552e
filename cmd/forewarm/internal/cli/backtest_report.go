package cli

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/model"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/forecast/backtest"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// backtestReport is the result of a backtest.
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
func (r backtestReport) scoreOf(of, horizon int) (s score, ok bool) {
	if r.scores[of] == nil {
		return score{}, false
	}
	return r.scores[of][horizon], true
}

// loss is that of a model's window at the verdict's level, NaN where it has none.
func (r backtestReport) loss(of, horizon int) float64 {
	if s, ok := r.scoreOf(of, horizon); ok {
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
func (r backtestReport) relativeToLast(of, horizon int) (mae, loss float64) {
	last, ok := r.scoreOf(r.find(windowpeak.LastValue), horizon)
	own, okToo := r.scoreOf(of, horizon)
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
func (r backtestReport) track(of int) *backtest.Track {
	return &r.played.models[of].tracks[r.lead]
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

// The JSON of a backtest. Durations are as flags take them; null is what cannot be told.
type (
	backtestDocument struct {
		Verdict     string       `json:"verdict"`
		TooShort    string       `json:"too_short"`
		Partial     bool         `json:"partial"`
		Assumptions assumptions  `json:"assumptions"`
		Models      []modelEntry `json:"models"`
		Notes       []string     `json:"notes,omitempty"`
	}
	assumptions struct {
		History    string         `json:"history"`
		Start      time.Time      `json:"start"`
		End        time.Time      `json:"end"`
		Step       model.Duration `json:"step"`
		JudgedFrom time.Time      `json:"judged_from"`
		JudgedTo   time.Time      `json:"judged_to"`
		LeadTime   model.Duration `json:"lead_time"`
		Season     model.Duration `json:"season"`
	}
	modelEntry struct {
		Name     string         `json:"name"`
		Title    string         `json:"title"`
		Baseline bool           `json:"baseline"`
		Error    string         `json:"error,omitempty"`
		Horizons []horizonEntry `json:"horizons,omitempty"`
	}
	horizonEntry struct {
		Horizon      model.Duration `json:"horizon"`
		Count        int            `json:"count"`
		MAE          *float64       `json:"mae"`
		MAERatioLast *float64       `json:"mae_ratio_last"`
		MASE         *float64       `json:"mase"`
		Window       windowEntry    `json:"window"`
	}
	// windowEntry is about the highest value up to the horizon; its maps are by level.
	windowEntry struct {
		Pinball          map[string]*float64 `json:"pinball"`
		PinballRatioLast *float64            `json:"pinball_ratio_last"`
		Coverage         map[string]*float64 `json:"coverage"`
	}
)

func (r backtestReport) document() backtestDocument {
	from, to := r.judged()
	d := backtestDocument{
		Verdict: r.verdict(), TooShort: r.history.TooShort(), Partial: r.partial(), Notes: r.notes(),
		Assumptions: assumptions{
			History: r.history.Source, Start: r.plan.series.Start, End: r.plan.series.End(),
			Step: model.Duration(r.plan.series.Step), JudgedFrom: from, JudgedTo: to,
			LeadTime: model.Duration(r.plan.span(r.plan.lead)), Season: model.Duration(r.plan.cycle),
		},
	}
	for i, m := range r.played.models {
		entry := modelEntry{Name: m.name, Title: m.title, Baseline: m.baseline}
		if m.err != nil {
			entry.Error = reason(m.err)
		}
		for h := range r.scores[i] {
			entry.Horizons = append(entry.Horizons, r.horizon(i, h))
		}
		d.Models = append(d.Models, entry)
	}
	return d
}

func (r backtestReport) horizon(i, h int) horizonEntry {
	s := r.scores[i][h]
	mae, loss := r.relativeToLast(i, h)
	out := horizonEntry{
		Horizon: model.Duration(r.plan.span(s.horizon)), Count: s.count,
		MAE: cmdline.OrNull(s.mae), MAERatioLast: cmdline.OrNull(mae), MASE: cmdline.OrNull(s.mase),
		Window: windowEntry{
			Pinball: map[string]*float64{}, Coverage: map[string]*float64{}, PinballRatioLast: cmdline.OrNull(loss),
		},
	}
	for q, level := range levels() {
		key := strconv.FormatFloat(level, 'g', -1, 64)
		out.Window.Pinball[key], out.Window.Coverage[key] = cmdline.OrNull(s.loss[q]), cmdline.OrNull(s.coverage[q])
	}
	return out
}

// formatDuration is a duration as flags take it.
func formatDuration(d time.Duration) string { return model.Duration(d).String() }
