package windowpeak

import (
	"embed"
	"encoding/json"
	"io"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast/quantreg"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// priors are fitted to recorded demand. Each file has the prior of one studied window. Prior.Write writes the files (`make prior`).
//
//go:embed priors/*.json
var priors embed.FS

// BuiltinPrior returns the built-in prior for the nearest window, measured by the ratio of the two windows.
func BuiltinPrior(window time.Duration) (Prior, error) {
	studied, err := ReadPriors[priorFile](priors)
	if err != nil {
		return Prior{}, err
	}
	var best priorFile
	least := math.Inf(1)
	for _, w := range studied {
		if apart := math.Abs(math.Log(w.Window / window.Seconds())); apart < least {
			best, least = w, apart
		}
	}
	return best.prior(), nil
}

// priorFile is the content of a built-in prior's file.
type priorFile struct {
	// Window in seconds.
	Window  float64       `json:"window"`
	Columns []string      `json:"columns"`
	Median  priorGaussian `json:"median"`
	Upper   priorGaussian `json:"upper"`
}

// priorGaussian is a Gaussian. Precision has only the lower triangle of the precision matrix, row by row.
type priorGaussian struct {
	Mean      []float64 `json:"mean"`
	Precision []float64 `json:"precision"`
}

// Write writes the prior of a window for BuiltinPrior with five digits, which is its precision.
func (p Prior) Write(out io.Writer, window time.Duration) error {
	w := priorFile{
		Window: window.Seconds(), Columns: p.Columns, Median: halve(p.Median), Upper: halve(p.Upper),
	}
	return json.NewEncoder(out).Encode(w)
}

func halve(p quantreg.Prior) priorGaussian {
	n := len(p.Mean)
	var h priorGaussian
	for i, m := range p.Mean {
		h.Mean = append(h.Mean, humanize.Rounded(m, 5))
		for j := range i + 1 {
			h.Precision = append(h.Precision, humanize.Rounded(p.Precision[i*n+j], 5))
		}
	}
	return h
}

func (w priorFile) prior() Prior {
	return Prior{Columns: w.Columns, Median: w.Median.whole(), Upper: w.Upper.whole()}
}

func (h priorGaussian) whole() quantreg.Prior {
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
