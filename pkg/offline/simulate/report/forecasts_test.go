package report_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/offline/accuracy"
	"github.com/forewarm/forewarm/pkg/offline/simulate/report"
)

// forecasts are two scores, one of them with nothing to compare with.
func forecasts() *accuracy.Result {
	from := time.Date(2026, 1, 8, 12, 0, 0, 0, time.UTC)
	return &accuracy.Result{
		Lead:    5 * time.Minute,
		From:    from,
		To:      from.Add(3 * 24 * time.Hour),
		Partial: true,
		Notes:   []string{"Two gaps."},
		Scores: []accuracy.Score{
			{
				Horizon:   5 * time.Minute,
				Model:     accuracy.Forewarm,
				Count:     4320,
				MAE:       1234.5,
				MASE:      0.40712,
				Loss:      53.84,
				Skill:     0.125,
				LossSkill: -0.00001,
				Coverage:  []float64{0.516, 0.898, 0.948, 1},
			},
			{
				Horizon:   5 * time.Minute,
				Model:     "last-value",
				Baseline:  true,
				Count:     4320,
				MAE:       1.5e-15,
				MASE:      math.NaN(),
				Skill:     math.NaN(),
				LossSkill: math.NaN(),
				Coverage:  []float64{1, 1, 1, 1},
			},
		},
	}
}

func TestForecastsAlone(t *testing.T) {
	const want = `
How accurate are the forecasts?
The forecasts of 3 days are compared with the actual demand. Each forecast uses only what was known
at the time. The lead time is 5m.

horizon and model      MAE  skill   MASE  loss  skill  coverage 50%     90%     95%     99%
5m, forewarm          1234  12.5%  0.407  53.8   0.0%         51.6%   89.8%   94.8%  100.0%
5m, last-value¹    1.5e-15      -      -     0      -        100.0%  100.0%  100.0%  100.0%

`
	if got := report.ForecastsText(forecasts(), 100); !strings.HasPrefix(got, want) ||
		!strings.HasSuffix(
			got,
			"\n¹ a baseline that needs no training\nTwo gaps.\nInterrupted before the end of the history.\n",
		) {
		t.Errorf("it prints\n%s", got)
	}
}

// The section is the same in the report and its page.
func TestForecastsInTheReport(t *testing.T) {
	c := comparison()
	c.Forecasts = forecasts()
	if got := text(t, c, 100); !strings.Contains(got, "\nHow accurate are the forecasts?\n") ||
		!strings.Contains(got, "\n5m, forewarm          1234  12.5%") {
		t.Errorf("it prints\n%s", got)
	}
	const row = `<th scope="row">5m, last-value¹</th><td data-label="MAE" class="n">1.5e-15</td><td data-label="skill" class="n">-</td>`
	if page := asHTML(t, c); !strings.Contains(page, row) {
		t.Error("the page has no such row")
	}
}

// JSON has the same members alone and in the report.
func TestForecastsAsJSON(t *testing.T) {
	c := comparison()
	c.Forecasts = forecasts()
	alone, err := json.Marshal(report.ForecastsJSON(forecasts()))
	if err != nil {
		t.Fatal(err)
	}
	type document struct {
		Forecasts struct {
			Lead   float64 `json:"leadTimeSeconds"`
			From   time.Time
			Scores []struct {
				Horizon  float64 `json:"horizonSeconds"`
				Model    string
				Skill    *float64 `json:"maeSkill"`
				Coverage map[string]float64
			}
		}
	}
	var got, within document
	if err = errors.Join(
		json.Unmarshal(alone, &got),
		json.Unmarshal([]byte(asJSON(t, c)), &within),
	); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, within); diff != "" {
		t.Error(diff)
	}
	f := got.Forecasts
	if len(f.Scores) != 2 || f.Lead != 300 || !f.From.Equal(forecasts().From) || f.Scores[1].Skill != nil ||
		*f.Scores[0].Skill != 0.125 || f.Scores[0].Horizon != 300 || f.Scores[0].Coverage["0.95"] != 0.948 {
		t.Errorf("%+v", f)
	}
}
