package arima

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

const (
	maxLag        = 50
	maxDifference = 2
	// maxSeason bounds how far back seasonal terms and differences reach, in steps: two days of minutes.
	maxSeason = 2880
)

// Seasonal is the part of an ARIMA that acts a whole season apart: P autoregressive terms at lags Period, 2·Period …, D
// differences to the season before, Q moving-average terms. The zero value is a model without seasons.
type Seasonal struct {
	P, D, Q int
	// Period is the season's length in steps, at least 2.
	Period int
}

// Order is the structure of an ARIMA: the number of autoregressive terms, of differences and of moving-average terms,
// those of its seasonal part, and whether the differenced series has a mean of its own.
type Order struct {
	P, D, Q  int
	Seasonal Seasonal
	Constant bool
}

// Model is the ARIMA of the order, whose coefficients are estimated.
func (o Order) Model() ARIMA {
	return ARIMA{P: o.P, D: o.D, Q: o.Q, Seasonal: o.Seasonal, Constant: o.Constant}
}

// String is the order in the field's words: "ARIMA(1,1,1)(0,1,1)[24]", "ARIMA(1,1,0) with drift".
func (o Order) String() string {
	name := fmt.Sprintf("ARIMA(%d,%d,%d)", o.P, o.D, o.Q)
	if s := o.Seasonal; s.P != 0 || s.D != 0 || s.Q != 0 {
		name += fmt.Sprintf("(%d,%d,%d)[%d]", s.P, s.D, s.Q, s.Period)
	}
	switch {
	case o.Constant && o.differences() == 0:
		return name + " with non-zero mean"
	case o.Constant:
		return name + " with drift"
	default:
		return name
	}
}

// coefficients counts those of the four polynomials.
func (o Order) coefficients() int { return o.P + o.Q + o.Seasonal.P + o.Seasonal.Q }

// parameters counts what is estimated in addition to the variance.
func (o Order) parameters() int {
	n := o.coefficients()
	if o.Constant {
		n++
	}
	return n
}

// differences counts those of both kinds.
func (o Order) differences() int { return o.D + o.Seasonal.D }

// canonical drops the period of a model without seasons, so that orders that mean the same are equal.
func (o Order) canonical() Order {
	if s := o.Seasonal; s.P == 0 && s.D == 0 && s.Q == 0 {
		o.Seasonal.Period = 0
	}
	return o
}

func (o Order) validate() error {
	s := o.Seasonal
	switch {
	case o.P < 0 || o.P > maxLag || o.Q < 0 || o.Q > maxLag:
		return fmt.Errorf("%s: expected p and q from 0 to %d: %w", o, maxLag, forecast.ErrParameter)
	case o.D < 0 || o.D > maxDifference:
		return fmt.Errorf("%s: expected d from 0 to %d: %w", o, maxDifference, forecast.ErrParameter)
	case s.P < 0 || s.D < 0 || s.D > maxDifference || s.Q < 0 || s != (Seasonal{}) && s.Period < 2:
		return fmt.Errorf("%s: expected seasonal P and Q of 0 or more, D from 0 to %d, and a period of 2 or more: %w",
			o, maxDifference, forecast.ErrParameter)
	case max(s.P, s.D, s.Q) > 0 && s.Period > maxSeason/max(s.P, s.D, s.Q):
		return fmt.Errorf("%s: expected seasonal terms that reach back at most %d steps: %w",
			o, maxSeason, forecast.ErrParameter)
	case o.differences() > 1 && o.Constant:
		return fmt.Errorf("%s: a constant after two differences is a parabola; leave it out: %w",
			o, forecast.ErrParameter)
	default:
		return nil
	}
}

// Coefficients are the parameters of an ARIMA, in the units of the series.
type Coefficients struct {
	// AR, MA, SAR and SMA are φ₁ … φₚ, θ₁ … θ_q, and Φ and Θ of the seasonal part.
	AR, MA, SAR, SMA []float64
	// Constant is μ: the mean of the series without differences, its drift per step with one.
	Constant float64
}

// validate checks the coefficients against the order. Whether φ is stationary is left to the process. θ need not be invertible, but no invertible one has Σ|θ| above 2^q − 1.
func (c Coefficients) validate(o Order) error {
	s := o.Seasonal
	if len(c.AR) != o.P || len(c.MA) != o.Q || len(c.SAR) != s.P || len(c.SMA) != s.Q {
		return fmt.Errorf("%s: %d AR, %d MA, %d and %d seasonal coefficients are fixed: %w",
			o, len(c.AR), len(c.MA), len(c.SAR), len(c.SMA), forecast.ErrParameter)
	}
	for _, list := range [][]float64{c.MA, c.SMA} {
		sum := 0.0
		for _, theta := range list {
			sum += math.Abs(theta)
		}
		if !(sum <= math.Ldexp(1, len(list))-1) {
			return fmt.Errorf("%s: the fixed MA coefficients %v are far from invertible: %w",
				o, list, forecast.ErrParameter)
		}
	}
	if !numeric.Observed(c.Constant) {
		return fmt.Errorf("%s: the fixed constant is %v: %w", o, c.Constant, forecast.ErrParameter)
	}
	return nil
}
