package cli

import (
	"strconv"
	"time"

	"github.com/prometheus/common/model"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
)

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
