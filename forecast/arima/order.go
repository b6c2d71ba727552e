package arima

import (
	"fmt"

	"github.com/forewarm/forewarm/forecast"
)

const (
	maxLag        = 50
	maxDifference = 2
)

// Order is the structure of an ARIMA: the number of autoregressive terms, of differences and of moving-average terms,
// and whether the differenced series has a mean of its own.
type Order struct {
	P, D, Q  int
	Constant bool
}

// String is the order in the field's words: "ARIMA(1,1,1) with drift".
func (o Order) String() string {
	name := fmt.Sprintf("ARIMA(%d,%d,%d)", o.P, o.D, o.Q)
	switch {
	case o.Constant && o.D == 0:
		return name + " with non-zero mean"
	case o.Constant:
		return name + " with drift"
	default:
		return name
	}
}

// parameters counts what is estimated beside the variance.
func (o Order) parameters() int {
	n := o.P + o.Q
	if o.Constant {
		n++
	}
	return n
}

func (o Order) validate() error {
	switch {
	case o.P < 0 || o.P > maxLag || o.Q < 0 || o.Q > maxLag:
		return fmt.Errorf("%s: want p and q from 0 to %d: %w", o, maxLag, forecast.ErrParameter)
	case o.D < 0 || o.D > maxDifference:
		return fmt.Errorf("%s: want d from 0 to %d: %w", o, maxDifference, forecast.ErrParameter)
	case o.D == maxDifference && o.Constant:
		return fmt.Errorf("%s: a constant after two differences is a parabola; leave it out: %w", o, forecast.ErrParameter)
	default:
		return nil
	}
}

// Coefficients are the parameters of an ARIMA: φ₁ … φₚ, θ₁ … θ_q and the constant μ, which is the mean of the series
// where d = 0 and its drift per step where d = 1, in the units of the series.
type Coefficients struct {
	AR, MA   []float64
	Constant float64
}
