package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/accuracy"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/autoregress"
	"github.com/forewarm/forewarm/forecast/decompose"
	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/forecast/naive"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/forecast/transform"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

//go:embed peers.R
var peersScript string

const (
	day = 24 * time.Hour
	// median is the index of the median in levels.
	median = 5
	// defaultModel is compared with seasonalNaive and naive2 on every set.
	defaultModel  = "auto"
	seasonalNaive = "seasonal-naive"
	naive2        = "naive2"
	// ofR is the prefix of a peer's name in the rows.
	ofR = "R: "
	// online is the name of the live set.
	online = "online"
)

// levels returns the quantiles of every forecast: the nine deciles, and the bounds of the 95 % interval.
func levels() []float64 { return []float64{0.025, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.975} }

// set is scored as a unit. Its kind is "m4" or "windows". season scales MASE and MSIS, and is the only season of many models. Other models
// use a day and a week.
type set struct {
	kind, name      string
	step            time.Duration
	season, horizon int
	windows         []window
}

// steps returns the number of steps in a duration, at least 1.
func (s set) steps(d time.Duration) int { return max(int(d/s.step), 1) }

// window is a history and the values after it.
type window struct {
	id     string
	past   forecast.Series
	actual []float64
}

// answer is a method's forecast of a window: a row for each of levels, and the model's point forecast or R's median.
type answer struct {
	quantiles [][]float64
	point     []float64
	cpu       time.Duration
}

// figure is a number that may be undefined, such as a ratio to 0. It is null in JSON then.
type figure float64

// MarshalJSON writes null for a number that is not finite.
func (f figure) MarshalJSON() ([]byte, error) {
	if !humanize.Known(float64(f)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// orUndefined returns the value, or undefined if there is an error.
func orUndefined(value float64, err error) figure {
	if err != nil {
		value = math.NaN()
	}
	return figure(value)
}

// scoreRow is a method's score on a set.
type scoreRow struct {
	Set        string `json:"set"`
	Name       string `json:"name,omitempty"`
	Model      method `json:"model,omitzero"`
	Series     int    `json:"series"` // The number of windows. Each series of M4 is one.
	Horizon    int    `json:"horizon"`
	Season     int    `json:"season"`
	MASE       figure `json:"mase"`
	MASEPoint  figure `json:"mase_point"`
	SMAPE      figure `json:"smape"`
	OWA        figure `json:"owa"`
	WQL        figure `json:"wql"`
	Coverage80 figure `json:"coverage80"`
	Coverage95 figure `json:"coverage95"`
	MSIS95     figure `json:"msis95"`
	CPU        figure `json:"cpu_seconds_per_series"`
	LeftOut    string `json:"left_out,omitempty"` // The reason if there are no figures.
}

func (r scoreRow) table() (heading, line string) {
	heading = fmt.Sprintf("%s: %d windows of %d steps, season %d\n%42s %7s %7s %7s %7s  %9s %9s", r.Name, r.Series,
		r.Horizon, r.Season, "MASE", "(point)", "MSIS", "WQL", "OWA", "cov 80/95", "CPU s/fit")
	if r.LeftOut != "" {
		return heading, fmt.Sprintf("%-34s left out: %s", r.Model, r.LeftOut)
	}
	return heading, fmt.Sprintf("%-34s %7.3f %7.3f %7.2f %7.4f %7.3f  %4.1f/%4.1f %9.3f", r.Model, r.MASE, r.MASEPoint,
		r.MSIS95, r.WQL, r.OWA, 100*r.Coverage80, 100*r.Coverage95, r.CPU)
}

// scoreSet prints a row for each method.
func (b *bench) scoreSet(s set) error {
	answers, err := b.ask(s, naive2)
	yardstick := s.row(naive2, answers, err)
	m4 := func(r scoreRow) accuracy.Score { return accuracy.Score{MASE: float64(r.MASE), SMAPE: float64(r.SMAPE)} }
	for _, name := range b.methods() {
		answers, err := b.ask(s, name)
		row := s.row(name, answers, err)
		row.OWA = orUndefined(accuracy.OWA(m4(row), m4(yardstick)))
		if err := b.print(row); err != nil {
			return err
		}
	}
	return nil
}

// ask forecasts every window with a model or with a peer.
func (b *bench) ask(s set, name string) ([]answer, error) {
	if peer, found := strings.CutPrefix(name, ofR); found {
		return b.askPeer(s, peer)
	}
	answers := make([]answer, len(s.windows))
	for i, w := range s.windows {
		model, begin := s.models(w.past.Len())[name], cpu()
		fitted, err := model.Fit(w.past)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.id, err)
		}
		next := fitted.Forecast(len(w.actual))
		answers[i].point = next.Point
		for _, p := range levels() {
			answers[i].quantiles = append(answers[i].quantiles, next.Quantile(p))
		}
		answers[i].cpu = cpu() - begin
		b.progress(s.name, name, i+1, len(s.windows))
	}
	return answers, nil
}

// cpu returns the CPU time that all threads of the process have used.
func cpu() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage) //nolint:errcheck // It can only fail for other arguments.
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// row returns the score of a method's answers, or the reason why there are none. In that case, every figure is undefined.
func (s set) row(name string, answers []answer, err error) scoreRow {
	row := scoreRow{
		Set: s.kind, Name: s.name, Model: method(name), Series: len(s.windows), Horizon: s.horizon, Season: s.season,
	}
	used := time.Duration(0)
	for _, a := range answers {
		used += a.cpu
		if slices.ContainsFunc(slices.Concat(a.quantiles...), func(v float64) bool { return !humanize.Known(v) }) {
			err = errors.New("the forecast is not finite")
		}
	}
	if err != nil {
		row.LeftOut, answers = err.Error(), nil
	}
	actual, _, quantiles := s.pool(answers, func(window) float64 { return 1 })
	scaled, points, spread := s.pool(answers, func(w window) float64 { return w.weight(s.season) })
	p, last := levels(), len(levels())-1
	row.MASE = orUndefined(accuracy.MAE(scaled, spread[median]))
	row.MASEPoint = orUndefined(accuracy.MAE(scaled, points))
	row.MSIS95 = orUndefined(accuracy.Winkler(scaled, spread[0], spread[last], 2*p[0]))
	row.WQL = orUndefined(accuracy.WQL(actual, quantiles[1:last], p[1:last]))
	row.SMAPE = orUndefined(accuracy.SMAPE(actual, quantiles[median]))
	row.Coverage80 = orUndefined(accuracy.Coverage(actual, quantiles[1], quantiles[last-1]))
	row.Coverage95 = orUndefined(accuracy.Coverage(actual, quantiles[0], quantiles[last]))
	row.CPU = figure(used.Seconds() / float64(len(answers)))
	return row
}

// pool concatenates the steps of all windows, each multiplied by the weight of its window.
func (s set) pool(answers []answer, weight func(window) float64) (actual, points []float64, quantiles [][]float64) {
	rows := make([][]float64, 2+len(levels()))
	for i, a := range answers {
		w := s.windows[i]
		factor := weight(w)
		for k, values := range append([][]float64{w.actual, a.point}, a.quantiles...) {
			for _, v := range values {
				rows[k] = append(rows[k], factor*v)
			}
		}
	}
	return rows[0], rows[1], rows[2:]
}

// weight is the MASE of an error of 1. The season is 1 if the history is not longer than a season. It is NaN if the scale is 0; then the
// window does not count in scaled measures.
func (w window) weight(season int) float64 {
	if season >= w.past.Len() {
		season = 1
	}
	return float64(orUndefined(accuracy.MASE([]float64{1}, []float64{0}, w.past.Values, season)))
}

// thinned keeps at most the given number of windows, evenly spread; 0 means all.
func (s set) thinned(limit int) set {
	if n := len(s.windows); limit > 0 && limit < n {
		kept := make([]window, limit)
		for i := range kept {
			kept[i] = s.windows[i*n/limit]
		}
		s.windows = kept
	}
	return s
}

// models returns the models by their names on the command line, configured for the set and the length of a history.
func (s set) models(history int) map[string]forecast.Model {
	seasons := []int{s.steps(day), s.steps(7 * day)}
	repeat := forecast.Model(naive.Seasonal{Period: s.season})
	if history <= s.season || s.season < 2 {
		repeat = naive.Last{}
	}
	ridge := autoregress.Ridge{Lags: autoregress.SeasonalLags(seasons...), HalfLife: float64(seasons[1])}
	return map[string]forecast.Model{
		defaultModel:     ensemble.Auto{Seasons: seasons, Horizon: s.horizon},
		"auto-no-season": ensemble.Auto{Horizon: s.horizon},
		"last":           naive.Last{},
		seasonalNaive:    repeat,
		naive2:           naive.Deseasonalised{Period: s.season},
		"ses":            smoothing.SES{},
		"damped-holt":    smoothing.Holt{Damped: true},
		"holt-winters":   smoothing.HoltWinters{Period: s.season},
		"auto-arima":     arima.Auto{},
		"auto-sarima":    arima.Auto{Period: s.season},
		"log-ridge":      transform.Log{Model: ridge},
		"mstl-arima":     decompose.Seasonal{Periods: seasons, Model: arima.Auto{}},
	}
}

func modelNames() []string { return slices.Sorted(maps.Keys(set{step: time.Hour}.models(0))) }

// method is the name of a model or a peer.
type method string

// IsZero makes JSON leave out the name of the default model.
func (m method) IsZero() bool { return m == defaultModel }

// allPeers returns the methods of peers.R: those of R's package forecast, and prophet.
func allPeers() []string { return []string{"thetaf", "auto.arima", "ets", "stlf", "tbats", "prophet"} }

// askPeer forecasts every window with a method in R.
func (b *bench) askPeer(s set, name string) ([]answer, error) {
	dir, err := os.MkdirTemp("", "benchforecast-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // A temporary folder.
	script := filepath.Join(dir, "peers.R")
	if err = os.WriteFile(script, []byte(peersScript), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.Background(), "Rscript", script, fmt.Sprint(b.limit.Seconds()), name)
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	var complaints strings.Builder
	cmd.Stdin, cmd.Stderr = strings.NewReader(s.rows(b.history)), &complaints
	printed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("run Rscript: %w: %s", err, strings.TrimSpace(complaints.String()))
	}
	b.progress(s.name, ofR+name, len(s.windows), len(s.windows))
	return s.readPeer(string(printed))
}

// rows returns the input of peers.R: a row for each window, with the newest values of its history.
func (s set) rows(newest int) string {
	var text strings.Builder
	for _, w := range s.windows {
		past := w.past.Slice(max(0, w.past.Len()-newest), w.past.Len())
		fmt.Fprintf(&text, "%d,%d,%d,%v,%d", s.season, s.steps(7*day), len(w.actual),
			past.Step.Seconds(), past.Start.Unix())
		for _, v := range past.Values {
			fmt.Fprintf(&text, ",%v", v)
		}
		text.WriteByte('\n')
	}
	return strings.ReplaceAll(text.String(), "NaN", "NA")
}

// readPeer reads what peers.R prints.
func (s set) readPeer(printed string) (out []answer, err error) {
	for _, w := range s.windows {
		var line string
		line, printed, _ = strings.Cut(printed, "\n")
		cells := strings.Split(line, "\t")
		if len(cells) == 1 {
			return nil, fmt.Errorf("%s: %s", w.id, cmp.Or(line, "no answer"))
		}
		v, err := parseValues(cells)
		if want := 1 + len(levels())*len(w.actual); err != nil || len(v) != want {
			return nil, errors.Join(fmt.Errorf("%s: %d numbers of R, want %d", w.id, len(v), want), err)
		}
		quantiles := slices.Collect(slices.Chunk(v[1:], len(w.actual)))
		out = append(out, answer{quantiles, quantiles[median], time.Duration(v[0] * float64(time.Second))})
	}
	return out, nil
}
