package report

import (
	"strconv"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/accuracy"
	"github.com/forewarm/forewarm/pkg/report"
)

// ForecastsText is the accuracy of forecasts alone, as Text has it among its answers.
func ForecastsText(f *accuracy.Result, width int) string {
	alone := forecastsAnswer(f)
	return "\n" + report.Text(alone.sections(), max(width, minWidth))
}

// ForecastsJSON is the accuracy of forecasts alone, as JSON has it in a member.
func ForecastsJSON(f *accuracy.Result) *report.Record {
	var r report.Record
	r.Data("forecasts", forecastsRecord(f))
	return &r
}

func forecastsRecord(f *accuracy.Result) *report.Record {
	var r report.Record
	r.Data("leadTimeSeconds", f.Lead)
	r.Data("from", f.From.UTC())
	r.Data("to", f.To.UTC())
	r.Data("partial", f.Partial)
	r.Data("notes", append([]string{}, f.Notes...))
	r.Data("scores", report.Records(f.Scores, score))
	return &r
}

// score adds the figures of a horizon and a model.
func score(r *report.Record, s *accuracy.Score) {
	name := humanize.Span(s.Horizon) + ", " + s.Model
	if s.Baseline {
		name += "¹"
	}
	r.Data("horizonSeconds", s.Horizon)
	r.Add("model", "horizon and model", s.Model, name)
	r.Data("baseline", s.Baseline)
	r.Data("count", s.Count)
	r.Number("mae", "MAE", s.MAE, formatError)
	r.Number("maeSkill", "skill", s.Skill, formatSkill)
	r.Number("mase", "MASE", s.MASE, formatError)
	r.Number("loss", "loss", s.Loss, formatError)
	r.Number("lossSkill", "skill", s.LossSkill, formatSkill)
	var coverage report.Record
	head := "coverage "
	for i, level := range accuracy.Levels() {
		coverage.Data(strconv.FormatFloat(level, 'g', -1, 64), s.Coverage[i])
		r.Text("", head+humanize.ShareAsWritten(level), humanize.Percent(s.Coverage[i]))
		head = ""
	}
	r.Data("coverage", &coverage)
}

// forecastsAnswer returns a row for each horizon and model.
func forecastsAnswer(f *accuracy.Result) answer {
	judged, lead := humanize.Period(f.To.Sub(f.From)), humanize.Span(f.Lead)
	out := answer{
		Title: "How accurate are the forecasts?",
		Answer: "The forecasts of " + judged + " are compared with the actual demand. Each forecast uses only what was known at " +
			"the time. The lead time is " + lead + ".",
		Rows: report.Records(f.Scores, score),
		Notes: append([]string{
			"MAE is the mean error of the demand that was forecast for the horizon, in the demand's unit. MASE is the same error, " +
				"divided by the error of repeating the last day (or, if the history is too short for that, the last value). Loss is " +
				"the pinball loss of the 95% quantile of the peak until the horizon. Lower is better. Coverage is how often that peak " +
				"was at or below each quantile. Skill shows how much lower the number to its left is than the same number for last-value.",
			"¹ a baseline that needs no training",
		}, f.Notes...),
	}
	if f.Partial {
		out.Notes = append(out.Notes, "Interrupted before the end of the history.")
	}
	return out
}

// formatError formats an error with three digits.
func formatError(v float64) string {
	if v < 1000 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return humanize.Number(v)
}

// formatSkill formats a skill in percent, without a sign if it is nearly zero.
func formatSkill(v float64) string {
	if text := humanize.Percent(v); text != "-0.0%" {
		return text
	}
	return "0.0%"
}
