package margin

import (
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"time"
)

// priors are what was late on recorded demand under each multiple of a candidate's grid: one file for each lead time that
// was studied, written by Write (`make prior`).
//
//go:embed priors/*.json
var priors embed.FS

// Priors are, by the name of a candidate, the share late under each multiple of its grid on other workloads.
type Priors map[string][]float64

// written are priors as they are kept in a file.
type written struct {
	// Lead in seconds.
	Lead float64 `json:"lead"`
	Late Priors  `json:"late"`
}

// Shipped are the priors for a lead time: between two that were studied by lines over the logarithms, outside them those of
// the edge, because nothing was measured there.
func Shipped(lead time.Duration) (Priors, error) {
	studied, err := shipped()
	if err != nil {
		return nil, err
	}
	low, high, share := bracket(studied, lead.Seconds())
	out := Priors{}
	for name, a := range low.Late {
		b := high.Late[name]
		if len(a) != len(b) {
			continue
		}
		mixed := make([]float64, len(a))
		for i := range a {
			mixed[i] = math.Exp(math.Log(a[i]) + share*(math.Log(b[i])-math.Log(a[i])))
		}
		out[name] = mixed
	}
	return out, nil
}

// shipped are all that are kept, by lead time.
func shipped() ([]written, error) {
	files, err := priors.ReadDir("priors")
	if err != nil {
		return nil, fmt.Errorf("shipped priors: %w", err)
	}
	var out []written
	for _, file := range files {
		text, err := priors.ReadFile(path.Join("priors", file.Name()))
		if err != nil {
			return nil, fmt.Errorf("shipped priors: %w", err)
		}
		var w written
		if err := json.Unmarshal(text, &w); err != nil {
			return nil, fmt.Errorf("shipped prior %s: %w", file.Name(), err)
		}
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b written) int { return int(a.Lead - b.Lead) })
	return out, nil
}

func bracket(all []written, lead float64) (low, high written, share float64) {
	if lead <= all[0].Lead {
		return all[0], all[0], 0
	}
	for i := 1; i < len(all); i++ {
		if a, b := all[i-1], all[i]; lead <= b.Lead {
			return a, b, math.Log(lead/a.Lead) / math.Log(b.Lead/a.Lead)
		}
	}
	last := all[len(all)-1]
	return last, last, 0
}

// For is a candidate's prior on a grid; where none fits, all is expected to be late, so that only what is seen counts.
func (p Priors) For(name string, grid []float64) []float64 {
	if late := p[name]; len(late) == len(grid) {
		return late
	}
	return slices.Repeat([]float64{1}, len(grid))
}

// Write writes the priors of a lead time for Shipped, in three digits: they are no more exact than that.
func (p Priors) Write(out io.Writer, lead time.Duration) error {
	w := written{Lead: lead.Seconds(), Late: Priors{}}
	for name, late := range p {
		for _, v := range late {
			rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
			if err != nil {
				return fmt.Errorf("prior of %s: %w", name, err)
			}
			w.Late[name] = append(w.Late[name], rounded)
		}
	}
	text, err := json.Marshal(w)
	if err == nil {
		_, err = out.Write(append(text, '\n'))
	}
	return err
}
