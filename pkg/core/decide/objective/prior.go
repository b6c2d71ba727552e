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

// Priors are what happened to other workloads under each multiplier: the share of the demand that was late, and the share that arrived in
// bad hours.
type Priors struct {
	Late     Shares `json:"late"`
	BadHours Shares `json:"bad_hours"`
}

// Shares of the demand are, by candidate, those under each multiplier of its grid.
type Shares map[string][]float64

// priorFile is the content of a file.
type priorFile struct {
	// Lead in seconds.
	Lead float64 `json:"lead"`
	Priors
}

// BuiltinPriors are those for a lead time: log-log-linear between two that were studied; outside them those of the edge,
// because nothing was measured there.
func BuiltinPriors(lead time.Duration) (Priors, error) {
	studied, err := windowpeak.ReadPriors[priorFile](priors)
	if err != nil {
		return Priors{}, err
	}
	slices.SortFunc(studied, func(a, b priorFile) int { return cmp.Compare(a.Lead, b.Lead) })
	low, high, share := bracket(studied, lead.Seconds())
	return Priors{
		Late: between(low.Late, high.Late, share), BadHours: between(low.BadHours, high.BadHours, share),
	}, nil
}

// between are the shares between two lead times, log-linear.
func between(low, high Shares, share float64) Shares {
	out := Shares{}
	for name, a := range low {
		b := high[name]
		if len(a) != len(b) {
			continue
		}
		mixed := make([]float64, len(a))
		for i := range a {
			mixed[i] = math.Exp(math.Log(a[i]) + share*(math.Log(b[i])-math.Log(a[i])))
		}
		out[name] = mixed
	}
	return out
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

// forGrid is the prior on a grid of the first candidate that has one. Without any, all demand is expected to count.
func (s Shares) forGrid(grid []float64, names ...string) []float64 {
	for _, name := range names {
		if shares := s[name]; len(shares) == len(grid) {
			return shares
		}
	}
	return slices.Repeat([]float64{1}, len(grid))
}

// Write writes the priors of a lead time for BuiltinPriors, in three digits: they are no more exact than that.
func (p Priors) Write(out io.Writer, lead time.Duration) error {
	return json.NewEncoder(out).Encode(priorFile{lead.Seconds(), Priors{p.Late.rounded(), p.BadHours.rounded()}})
}

func (s Shares) rounded() Shares {
	out := Shares{}
	for name, shares := range s {
		for _, v := range shares {
			out[name] = append(out[name], humanize.Rounded(v, 3))
		}
	}
	return out
}
