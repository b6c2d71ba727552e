package windowpeak

import (
	"embed"
	"io"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast/quantreg"
	"github.com/forewarm/forewarm/pkg/core/windowpeak/shipped"
)

// priors are what was learnt on recorded demand: one file for each window that was studied, written by Prior.Write
// (`make prior`).
//
//go:embed priors/*.json
var priors embed.FS

// Shipped is the prior of the window that is nearest, as a ratio, among those that were studied.
func Shipped(window time.Duration) (Prior, error) {
	studied, err := shipped.Read[written](priors)
	if err != nil {
		return Prior{}, err
	}
	var best written
	least := math.Inf(1)
	for _, w := range studied {
		if apart := math.Abs(math.Log(w.Window / window.Seconds())); apart < least {
			best, least = w, apart
		}
	}
	return best.prior(), nil
}

// written is a prior as it is kept in a file.
type written struct {
	// Window in seconds.
	Window  float64  `json:"window"`
	Columns []string `json:"columns"`
	Median  halved   `json:"median"`
	Upper   halved   `json:"upper"`
}

// halved is a Gaussian whose precision is the lower triangle alone, line by line.
type halved struct {
	Mean      []float64 `json:"mean"`
	Precision []float64 `json:"precision"`
}

// Write writes the prior of a window for Shipped, in five digits: it is no more exact than that.
func (p Prior) Write(out io.Writer, window time.Duration) error {
	w := written{
		Window: window.Seconds(), Columns: p.Columns, Median: halve(p.Median), Upper: halve(p.Upper),
	}
	return shipped.Write(out, w)
}

func halve(p quantreg.Prior) halved {
	n := len(p.Mean)
	var h halved
	for i, m := range p.Mean {
		h.Mean = append(h.Mean, shipped.Rounded(m, 5))
		for j := range i + 1 {
			h.Precision = append(h.Precision, shipped.Rounded(p.Precision[i*n+j], 5))
		}
	}
	return h
}

func (w written) prior() Prior {
	return Prior{Columns: w.Columns, Median: w.Median.whole(), Upper: w.Upper.whole()}
}

func (h halved) whole() quantreg.Prior {
	n := len(h.Mean)
	out := quantreg.Prior{Mean: h.Mean, Precision: make([]float64, n*n)}
	at := 0
	for i := range n {
		for j := range i + 1 {
			out.Precision[i*n+j], out.Precision[j*n+i] = h.Precision[at], h.Precision[at]
			at++
		}
	}
	return out
}
