package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/hpasim"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

const (
	// sync is the HPA's period and the step of the grid.
	sync = hpasim.DefaultSync
	// replicaCapacity is what a replica serves. The HPA reads thousandths of the demand's unit, rounded up: a unit of a replica
	// would make its rounding felt.
	replicaCapacity = 1000
	// meanReplicas is what the mean of every trace is scaled to.
	meanReplicas = 12

	day = 24 * time.Hour
	// warmUp is left out of the count, and of a trace shorter than shortTrace a part.
	warmUp, shortTrace, warmUpPart = 2 * day, 4 * day, 10
	// nearlyDay is how long a recorded day is at least: one of hours ends 23 hours after its first.
	nearlyDay = 23 * time.Hour
)

// recorded is a column of a trace file on the grid.
type recorded struct {
	name, family string
	// folder is the folder that the trace was read from.
	folder string
	demand forecast.Series
}

// duration of the trace.
func (r recorded) duration() time.Duration { return time.Duration(r.demand.Len()) * r.demand.Step }

// counts says that the trace counts in the summary, and that something may be learnt from it: it is recorded, and long
// enough.
func (r recorded) counts() bool { return r.duration() >= nearlyDay && !r.synthetic() }

// synthetic says that the trace is no recorded one, but made here.
func (r recorded) synthetic() bool { return r.family == scheduledFamily }

func (r recorded) warmUp() time.Duration {
	if d := r.duration(); d < shortTrace {
		return d / warmUpPart
	}
	return warmUp
}

// readTraces reads folders one after the other.
func readTraces(dirs ...string) ([]recorded, error) {
	var out []recorded
	for _, dir := range dirs {
		traces, err := readFolder(dir)
		if err != nil {
			return nil, err
		}
		out = append(out, traces...)
	}
	return out, nil
}

// readFolder reads every value column of every CSV file in a folder, in the order of their names. A file of one column
// gives its name to the trace; otherwise the column's name comes after it.
func readFolder(dir string) ([]recorded, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []recorded
	for _, file := range files {
		name, isCSV := strings.CutSuffix(strings.TrimSuffix(file.Name(), ".gz"), ".csv")
		if !isCSV {
			continue
		}
		columns, err := readColumns(filepath.Join(dir, file.Name()), name)
		if err != nil {
			return nil, err
		}
		for _, c := range columns {
			c.folder = filepath.Base(dir)
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no .csv or .csv.gz file", dir)
	}
	return out, nil
}

func readColumns(path, name string) ([]recorded, error) {
	columns, err := trace.FileColumns(path)
	if err != nil {
		return nil, err
	}
	var out []recorded
	for _, column := range columns {
		s, err := trace.ReadFile(path, column)
		if err != nil {
			return nil, err
		}
		demand, err := onGrid(s)
		if err != nil {
			return nil, fmt.Errorf("%s, column %s: %w", path, column, err)
		}
		full := name
		if len(columns) > 1 {
			full += "/" + column
		}
		out = append(out, recorded{name: full, family: familyOf(name), demand: demand})
	}
	return out, nil
}

// onGrid lays a trace on the grid and scales it.
func onGrid(s forecast.Series) (forecast.Series, error) {
	out, err := simulate.Resample(s, sync)
	if err != nil {
		return out, err
	}
	sum := 0.0
	for _, v := range out.Values {
		sum += v
	}
	if sum <= 0 {
		return out, fmt.Errorf("a mean of %v, want more than 0", sum/float64(out.Len()))
	}
	by := meanReplicas * replicaCapacity * float64(out.Len()) / sum
	for i := range out.Values {
		out.Values[i] *= by
	}
	return out, nil
}

// familyOf is the collection that a trace stems from: traces of one are alike, and count together as much as those of
// another. It is the first word of the name without its number, but for the words that public collections go by.
func familyOf(name string) string {
	word, _, _ := strings.Cut(strings.ToLower(name), "_")
	if unnumbered := strings.TrimRight(word, "0123456789"); unnumbered != "" {
		word = unnumbered
	}
	switch word {
	case "servegen":
		return "sg"
	case "worldcup":
		return "wc"
	case "elb", "tw":
		return "nab"
	case "azure":
		return "az"
	case "gpu", "gen":
		return "gentd"
	default:
		return word
	}
}
