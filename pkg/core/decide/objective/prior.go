package objective

import (
	"cmp"
	"embed"
	"encoding/json"
	"io"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// priors are the shares late on recorded demand under each multiplier of a candidate's grid: one file for each lead time that
// was studied, written by Write (`make prior`).
//
//go:embed priors/*.json
var priors embed.FS

// Priors are, by candidate, the share late under each multiplier of its grid on other workloads.
type Priors map[string][]float64

// priorFile is the content of a file.
type priorFile struct {
	// Lead in seconds.
	Lead float64 `json:"lead"`
	Late Priors  `json:"late"`
}

// BuiltinPriors are those for a lead time: log-log-linear between two that were studied; outside them those of the edge,
// because nothing was measured there.
func BuiltinPriors(lead time.Duration) (Priors, error) {
	studied, err := windowpeak.ReadPriors[priorFile](priors)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(studied, func(a, b priorFile) int { return cmp.Compare(a.Lead, b.Lead) })
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

func bracket(all []priorFile, lead float64) (low, high priorFile, share float64) {
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

// forGrid is a candidate's prior on a grid. Without a prior for it all demand is expected to be late.
func (p Priors) forGrid(name string, grid []float64) []float64 {
	if late := p[name]; len(late) == len(grid) {
		return late
	}
	return slices.Repeat([]float64{1}, len(grid))
}

// Write writes the priors of a lead time for BuiltinPriors, in three digits: they are no more exact than that.
func (p Priors) Write(out io.Writer, lead time.Duration) error {
	w := priorFile{Lead: lead.Seconds(), Late: Priors{}}
	for name, late := range p {
		for _, v := range late {
			w.Late[name] = append(w.Late[name], humanize.Rounded(v, 3))
		}
	}
	return json.NewEncoder(out).Encode(w)
}
