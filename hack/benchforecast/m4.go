package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/accuracy"
	"github.com/forewarm/forewarm/forecast/naive"
)

// The hourly series of the competition have a season of a day and one of a week; its measures use the day only.
const (
	day  = 24
	week = 168
)

// m4Row is the aggregate over the series.
type m4Row struct {
	Set                 string  `json:"set"`
	Model               string  `json:"model,omitempty"`
	Series              int     `json:"series"`
	MASE                float64 `json:"mase"`
	SMAPE               float64 `json:"smape"`
	OWA                 float64 `json:"owa"`
	Coverage80          float64 `json:"coverage80"`
	Coverage95          float64 `json:"coverage95"`
	MSIS95              float64 `json:"msis95"`
	CPUSecondsPerSeries float64 `json:"cpu_seconds_per_series"`
}

// scoreM4 scores every model on the competition's files and, in a table, R's models too.
func scoreM4(o options, rows printer, words io.Writer) error {
	if o.train == "" {
		return nil
	}
	all, err := competitors(o.train, o.test)
	if err != nil {
		return err
	}
	yardstick, err := scoreSeries(all, entry{"naive2", func(t task) forecast.Model {
		return naive.Deseasonalised{Period: t.season()}
	}}, false, io.Discard)
	if err != nil {
		return err
	}
	naive2 := accuracy.Score{MASE: yardstick.MASE, SMAPE: yardstick.SMAPE}
	for _, model := range o.models {
		scored, err := scoreSeries(all, model, o.each, words)
		if err != nil {
			return err
		}
		if scored.OWA, err = accuracy.OWA(accuracy.Score{MASE: scored.MASE, SMAPE: scored.SMAPE}, naive2); err != nil {
			return err
		}
		if err := rows.m4(scored); err != nil {
			return err
		}
	}
	if o.r && !o.asJSON {
		return scoreR(o, naive2, rows, words)
	}
	return nil
}

// scoreSeries scores a model on every series, without the OWA.
func scoreSeries(all []competitor, model entry, each bool, words io.Writer) (m4Row, error) {
	total := m4Row{Set: "m4", Model: rowModel(model.name), Series: len(all)}
	for i, c := range all {
		one, err := c.score(model)
		if err != nil {
			return m4Row{}, fmt.Errorf("%s on %s: %w", model.name, c.id, err)
		}
		n := float64(len(all))
		total.MASE += one.MASE / n
		total.SMAPE += one.SMAPE / n
		total.Coverage80 += one.Coverage80 / n
		total.Coverage95 += one.Coverage95 / n
		total.MSIS95 += one.MSIS95 / n
		total.CPUSecondsPerSeries += one.CPUSecondsPerSeries / n
		if each {
			fmt.Fprintf(words, "%s\t%s\tMASE %.3f\tsMAPE %.2f\tcoverage %.2f %.2f\tMSIS95 %.2f\tCPU %.3f s\n",
				model.name, c.id, one.MASE, one.SMAPE, one.Coverage80, one.Coverage95, one.MSIS95,
				one.CPUSecondsPerSeries)
		}
		progress(words, "m4 "+model.name, i+1, len(all))
	}
	return total, nil
}

// score fits a model to the training part and scores it on the rest.
func (c competitor) score(model entry) (m4Row, error) {
	made := model.make(task{seasons: []int{day, week}, horizon: len(c.actual)})
	series := forecast.Series{Start: time.Unix(0, 0).UTC(), Step: time.Hour, Values: c.train}
	before := cpu()
	fitted, err := made.Fit(series)
	if err != nil {
		return m4Row{}, err
	}
	next := fitted.Forecast(len(c.actual))
	lower80, upper80 := next.Quantile(0.1), next.Quantile(0.9)
	lower95, upper95 := next.Quantile(0.025), next.Quantile(0.975)
	out := m4Row{CPUSecondsPerSeries: (cpu() - before).Seconds()}
	var problems [5]error
	out.MASE, problems[0] = accuracy.MASE(c.actual, next.Point, c.train, day)
	out.SMAPE, problems[1] = accuracy.SMAPE(c.actual, next.Point)
	out.Coverage80, problems[2] = accuracy.Coverage(c.actual, lower80, upper80)
	out.Coverage95, problems[3] = accuracy.Coverage(c.actual, lower95, upper95)
	bounds := accuracy.Bounds{Lower: lower95, Upper: upper95, Alpha: 0.05}
	out.MSIS95, problems[4] = accuracy.MSIS(c.actual, bounds, c.train, day)
	return out, errors.Join(problems[:]...)
}

// rowModel is the model's name in a row, empty for the default model.
func rowModel(name string) string {
	if name == defaultModel {
		return ""
	}
	return name
}
