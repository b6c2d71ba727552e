package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/accuracy"
)

// ForecastsText writes the accuracy of forecasts alone, as Text does it in a section. It returns the error of the writer.
func ForecastsText(w io.Writer, f *accuracy.Result, width int) error {
	var out bytes.Buffer
	writeSection(&out, forecastsSection(f), max(width, leastWidth))
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// ForecastsJSON writes the accuracy of forecasts alone, as JSON does it in a member. It returns the error of the writer.
func ForecastsJSON(w io.Writer, f *accuracy.Result) error {
	return writeJSON(w, jsonObject{{"forecasts", forecastsObject(f)}})
}

// forecastsSection has a line for each horizon and model.
func forecastsSection(f *accuracy.Result) section {
	judged, lead := humanize.Period(f.To.Sub(f.From)), humanize.Span(f.Lead)
	out := section{
		Title: "How accurate are the forecasts?",
		Answer: "The forecasts of " + judged + " are compared with the demand that came. Each was made from what was known at its " +
			"time. The lead time is " + lead + ".",
		Heads: strings.Split("horizon and model,MAE,skill,MASE,loss,skill,coverage 50%,90%,95%,99%", ","),
		Notes: append([]string{
			"MAE, MASE: error of the forecast of the demand at the horizon, in the demand's unit and relative to repeating the last day " +
				"(in a history that is too short for that, the last value). loss: pinball loss of the 95% quantile of the peak until the " +
				"horizon; lower is better. coverage: how often that peak was within each quantile. skill: the share by which the number " +
				"to its left is below that of the last value.",
			"¹ a baseline, which costs nothing",
		}, f.Notes...),
	}
	if f.Partial {
		out.Notes = append(out.Notes, "Interrupted before the end of the history.")
	}
	for _, s := range f.Scores {
		name := humanize.Span(s.Horizon) + ", " + s.Model
		if s.Baseline {
			name += "¹"
		}
		line := []string{name, formatError(s.MAE), formatSkill(s.Skill), formatError(s.MASE)}
		line = append(line, formatError(s.Loss), formatSkill(s.LossSkill))
		for _, coverage := range s.Coverage {
			line = append(line, humanize.Percent(coverage))
		}
		out.Lines = append(out.Lines, line)
	}
	return out
}

// formatError is an error with three digits.
func formatError(v float64) string {
	if v < 1000 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return humanize.Number(v)
}

// formatSkill is a skill in percent, without a sign where it is next to nothing.
func formatSkill(v float64) string {
	if text := humanize.Percent(v); text != "-0.0%" {
		return text
	}
	return "0.0%"
}

func forecastsObject(f *accuracy.Result) jsonObject {
	return jsonObject{
		{"lead_time_seconds", f.Lead},
		{"from", f.From.UTC()},
		{"to", f.To.UTC()},
		{"partial", f.Partial},
		{"notes", append([]string{}, f.Notes...)},
		{"scores", objectsOf(f.Scores, func(s *accuracy.Score) jsonObject {
			out := jsonObject{
				{"horizon_seconds", s.Horizon},
				{"model", s.Model},
				{"baseline", s.Baseline},
				{"count", s.Count},
				{"mae", s.MAE},
				{"mae_skill", s.Skill},
				{"mase", s.MASE},
				{"loss", s.Loss},
				{"loss_skill", s.LossSkill},
			}
			var coverage jsonObject
			for i, level := range accuracy.Levels() {
				coverage = append(coverage, jsonMember{strconv.FormatFloat(level, 'g', -1, 64), s.Coverage[i]})
			}
			return append(out, jsonMember{"coverage", coverage})
		})},
	}
}
