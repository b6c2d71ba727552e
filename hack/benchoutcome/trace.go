package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

const (
	// replicaCapacity is what a replica serves. The HPA reads thousandths of the demand's unit, rounded up: a unit of a replica
	// would make its rounding felt.
	replicaCapacity = 1000
	// meanReplicas is what the mean of every trace is scaled to.
	meanReplicas = 12

	day = 24 * time.Hour
	// nearlyDay is how long a recorded day is at least: one of hours ends 23 hours after its first.
	nearlyDay = 23 * time.Hour
)

// recorded is a column of a trace file, scaled.
type recorded struct {
	name, family string
	demand       forecast.Series
}

// counts says that the trace counts in the figures, and that something may be learnt from it: it is not made here.
func (r recorded) counts() bool { return r.family != scheduledFamily }

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
		out = append(out, columns...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no .csv or .csv.gz file with a trace of a day", dir)
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
		if time.Duration(s.Len())*s.Step < nearlyDay {
			continue
		}
		demand, err := scaled(s)
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

// scaled is a trace with the mean that all have.
func scaled(s forecast.Series) (forecast.Series, error) {
	sum, n := 0.0, 0
	for _, v := range s.Values {
		if !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	if !(sum > 0) {
		return s, errors.New("no demand above 0")
	}
	out := s
	out.Values = slices.Clone(s.Values)
	for i := range out.Values {
		out.Values[i] *= meanReplicas * replicaCapacity * float64(n) / sum
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
