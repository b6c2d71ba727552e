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
)

//go:embed peers.R
var peersScript string

// allPeers are the methods that peers.R has: those of R's package forecast, and package prophet.
func allPeers() []string { return []string{"thetaf", "auto.arima", "ets", "stlf", "tbats", "prophet"} }

// errLeftOut is why a peer has no score: R's reason follows.
var errLeftOut = errors.New("left out")

// askPeer has a method of R forecast every window. Errors: errLeftOut where it cannot forecast one of them within the limit.
func (s set) askPeer(name string, o options, words io.Writer) (answers []answer, err error) {
	dir, err := os.MkdirTemp("", "benchforecast-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // A temporary folder.
	script, windows := filepath.Join(dir, "peers.R"), filepath.Join(dir, "windows.csv")
	err = errors.Join(os.WriteFile(script, []byte(peersScript), 0o600), s.writeWindows(windows, o.history))
	if err != nil {
		return nil, err
	}
	limit := strconv.FormatFloat(o.limit.Seconds(), 'g', -1, 64)
	cmd := exec.CommandContext(context.Background(), "Rscript", script, windows, limit, name)
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	var complaints strings.Builder
	cmd.Stderr = &complaints
	printed, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start Rscript: %w", err)
	}
	answers, err = s.readPeer(name, printed, words)
	if ended := cmd.Wait(); err == nil && ended != nil {
		err = fmt.Errorf("run Rscript: %w: %s", ended, strings.TrimSpace(complaints.String()))
	}
	if err == nil && len(answers) != len(s.windows) {
		err = fmt.Errorf("R's %s answered %d of %d windows", name, len(answers), len(s.windows))
	}
	return answers, err
}

// writeWindows writes the rows that peers.R reads, each with the newest values of the history.
func (s set) writeWindows(path string, newest int) error {
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
	return os.WriteFile(path, []byte(text.String()), 0o600)
}

// readPeer reads what peers.R prints.
func (s set) readPeer(name string, printed io.Reader, words io.Writer) (out []answer, err error) {
	lines := bufio.NewScanner(printed)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		i, cells := len(out), strings.Split(lines.Text(), "\t")
		if i >= len(s.windows) {
			return nil, fmt.Errorf("R's %s: more rows than the %d windows", name, len(s.windows))
		}
		w := s.windows[i]
		if len(cells) == 1 {
			err = fmt.Errorf("%s: %w: %s", w.id, errLeftOut, cells[0])
			continue
		}
		v, err := parseValues(cells)
		if want := 1 + len(levels())*len(w.actual); err != nil || len(v) != want {
			return nil, fmt.Errorf("R's %s: row %d has %d numbers, want %d: %w", name, i+1, len(v), want, err)
		}
		out = append(out, answer{
			cpu:       time.Duration(v[0] * float64(time.Second)),
			quantiles: slices.Collect(slices.Chunk(v[1:], len(w.actual))),
		})
		progress(words, s.name+" R "+name, i+1, len(s.windows))
	}
	return out, errors.Join(err, lines.Err())
}
