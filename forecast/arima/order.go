package arima

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/units"
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
		return fmt.Errorf("%s: a constant after two differences is a parabola; leave it out: %w",
			o, forecast.ErrParameter)
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

// validate checks the coefficients against the order. Whether φ is stationary is left to the process. θ need not be
// invertible, but no invertible one has Σ|θ| above 2^q − 1.
func (c Coefficients) validate(o Order) error {
	if len(c.AR) != o.P || len(c.MA) != o.Q {
		return fmt.Errorf("%s: %d AR and %d MA coefficients are fixed: %w",
			o, len(c.AR), len(c.MA), forecast.ErrParameter)
	}
	sum := 0.0
	for _, theta := range c.MA {
		sum += math.Abs(theta)
	}
	if !(sum <= math.Ldexp(1, o.Q)-1) {
		return fmt.Errorf("%s: the fixed MA coefficients %v are far from invertible: %w",
			o, c.MA, forecast.ErrParameter)
	}
	if !units.Observed(c.Constant) {
		return fmt.Errorf("%s: the fixed constant is %v: %w", o, c.Constant, forecast.ErrParameter)
	}
	return nil
}
