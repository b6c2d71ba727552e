package main

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast/ensemble"
)

//go:embed peers.R
var peersScript string

// allPeers are the methods that peers.R has: those of R's package forecast, and package prophet.
func allPeers() []string { return []string{"thetaf", "auto.arima", "ets", "stlf", "tbats", "prophet"} }

// askPeer has a method of R forecast every window, or says why it cannot.
func (s set) askPeer(name string, o options, words io.Writer) (answers []answer, err error) {
	dir, err := os.MkdirTemp("", "benchforecast-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // A temporary folder.
	script := filepath.Join(dir, "peers.R")
	if err = os.WriteFile(script, []byte(peersScript), 0o600); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	cmd := exec.CommandContext(ctx, "Rscript", script, strconv.FormatFloat(o.limit.Seconds(), 'g', -1, 64), name)
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	var complaints strings.Builder
	cmd.Stdin, cmd.Stderr = strings.NewReader(s.rows(o.history)), &complaints
	printed, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start Rscript: %w", err)
	}
	if answers, err = s.readPeer(printed, words, name); err != nil {
		stop()
	}
	if ended := cmd.Wait(); err == nil && ended != nil {
		err = fmt.Errorf("run Rscript: %w: %s", ended, strings.TrimSpace(complaints.String()))
	}
	return answers, err
}

// rows are what peers.R reads, each with the newest values of a history.
func (s set) rows(newest int) string {
	var text strings.Builder
	for _, w := range s.windows {
		past := w.past.Slice(max(0, w.past.Len()-newest), w.past.Len())
		fmt.Fprintf(&text, "%d,%d,%d,%v,%d", s.season, s.seasons[len(s.seasons)-1], len(w.actual),
			past.Step.Seconds(), past.Start.Unix())
		for _, v := range past.Values {
			text.WriteByte(',')
			if math.IsNaN(v) {
				text.WriteString("NA")
			} else {
				text.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
			}
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// readPeer reads what peers.R prints.
func (s set) readPeer(printed io.Reader, words io.Writer, name string) (out []answer, err error) {
	lines := bufio.NewScanner(printed)
	lines.Buffer(nil, 1<<26)
	for i, w := range s.windows {
		if !lines.Scan() {
			return nil, errors.Join(fmt.Errorf("%s: no answer", w.id), lines.Err())
		}
		cells := strings.Split(lines.Text(), "\t")
		if len(cells) == 1 {
			return nil, fmt.Errorf("%s: %s", w.id, cells[0])
		}
		v, err := parseValues(cells)
		if want := 1 + len(levels())*len(w.actual); err != nil || len(v) != want {
			return nil, fmt.Errorf("%s: %d numbers of R, want %d: %w", w.id, len(v), want, err)
		}
		quantiles := slices.Collect(slices.Chunk(v[1:], len(w.actual)))
		spent := time.Duration(v[0] * float64(time.Second))
		out = append(out, answer{quantiles: quantiles, point: quantiles[median], cpu: spent})
		progress(words, s.name+" R "+name, i+1, len(s.windows))
	}
	return out, nil
}

// ablationRow is what the default model loses on a set without a kind of candidates: the change of each measure as a
// share, above 0 where the kind is worth something, and of the CPU seconds of a fit.
type ablationRow struct {
	Set     string `json:"set"`
	Name    string `json:"name"`
	Without string `json:"without"`
	MASE    figure `json:"mase_change"`
	Point   figure `json:"mase_point_change"`
	MSIS    figure `json:"msis95_change"`
	WQL     figure `json:"wql_change"`
	CPU     figure `json:"cpu_seconds_change"`
}

// ablate scores the default model without each kind of its candidates in turn.
func (s set) ablate(whole []answer, rows printer, words io.Writer) error {
	with := s.score(whole)
	for _, kind := range candidateKinds(whole) {
		less := variant(" without "+kind, func(auto *ensemble.Auto) { auto.Without = []string{kind} })
		answers, err := s.ask(less, words)
		if err != nil {
			return fmt.Errorf("%s without %s: %w", s.name, kind, err)
		}
		row := s.score(answers)
		err = rows.ablation(ablationRow{
			Set: "ablation", Name: s.name, Without: kind, CPU: row.CPU - with.CPU, MASE: row.MASE/with.MASE - 1,
			Point: row.MASEPoint/with.MASEPoint - 1, MSIS: row.MSIS95/with.MSIS95 - 1, WQL: row.WQL/with.WQL - 1,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// candidateKinds are those of any window, in alphabetical order.
func candidateKinds(answers []answer) []string {
	var found []string
	for _, a := range answers {
		found = append(found, a.kinds...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// kinds are those of the candidates that were fitted, but for the last value, which comes first and always takes part.
func kinds(r ensemble.Reasons) (out []string) {
	for _, c := range r.Candidates[1:] {
		if !c.TooCostly {
			out = append(out, c.Kind)
		}
	}
	return out
}
