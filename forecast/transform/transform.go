package transform

import (
	"fmt"
	"math"
)

// Transform is an increasing map of a series' values to the scale of a model, and back.
type Transform interface {
	// Name is the map in the field's words: "log1p".
	Name() string
	// Forward maps a value; NaN means that it lies outside the domain.
	Forward(y float64) float64
	// Inverse maps back, whatever the model came up with: beyond the range of Forward to the nearest end of the domain.
	// It does not decrease, and is never NaN but of NaN.
	Inverse(z float64) float64
	// Curvature is the second derivative of Inverse at z, 0 where there is none.
	Curvature(z float64) float64
}

// Log1p is sign(y)·ln(1+|y|/u): the logarithm for values large beside the unit u, linear for small ones, so that zeros
// do no harm. What multiplies demand adds up on its scale.
type Log1p struct {
	// Unit is u, 0 for 1. Model Log finds one that suits the series.
	Unit float64
}

// Name is "log1p", with the unit where it is not 1: "log1p(y/0.25)".
func (l Log1p) Name() string {
	if l.unit() == 1 {
		return "log1p"
	}
	return fmt.Sprintf("log1p(y/%.3g)", l.unit())
}

func (l Log1p) unit() float64 {
	if !(l.Unit > 0) {
		return 1
	}
	return l.Unit
}

// Forward takes any value.
func (l Log1p) Forward(y float64) float64 { return math.Copysign(math.Log1p(math.Abs(y)/l.unit()), y) }

// Inverse is sign(z)·u(eᶻ−1).
func (l Log1p) Inverse(z float64) float64 {
	return math.Copysign(l.unit()*math.Expm1(math.Abs(z)), z)
}

// Curvature is sign(z)·ueᶻ.
func (l Log1p) Curvature(z float64) float64 {
	return math.Copysign(l.unit()*math.Exp(math.Abs(z)), z)
}

// BoxCox is the power transform of Box & Cox (1964), (y^λ − 1)/λ, and the logarithm for λ = 0. For λ > 0 it goes on to
// negative values with their sign, (sign(y)|y|^λ − 1)/λ (Bickel & Doksum 1981); for λ ≤ 0 the domain is y > 0.
type BoxCox struct {
	// Lambda is the power: 1 leaves the shape of the series alone, 0 is the logarithm. Guerrero finds one.
	Lambda float64
}

// Name is the transform with its power: "Box-Cox(0.5)".
func (b BoxCox) Name() string { return fmt.Sprintf("Box-Cox(%.3g)", b.Lambda) }

// flat is the power below which a Box-Cox transform is the logarithm to the last digits that matter.
const flat = 1e-9

// Forward takes positive values, and for λ > 0 all.
func (b BoxCox) Forward(y float64) float64 {
	switch {
	case y <= 0 && b.Lambda < flat:
		return math.NaN()
	case math.Abs(b.Lambda) < flat:
		return math.Log(y)
	case y > 0:
		return math.Expm1(b.Lambda*math.Log(y)) / b.Lambda // exact where y^λ is near to 1
	}
	return (-math.Pow(-y, b.Lambda) - 1) / b.Lambda
}

// Inverse is sign(x)|x|^(1/λ) of x = λz + 1; for λ < 0, z ≥ −1/λ stands for infinitely large values.
func (b BoxCox) Inverse(z float64) float64 {
	if math.Abs(b.Lambda) < flat {
		return math.Exp(z)
	}
	x := b.Lambda*z + 1
	switch {
	case x > 0:
		return math.Exp(math.Log1p(b.Lambda*z) / b.Lambda)
	case b.Lambda < 0:
		return math.Inf(1)
	}
	return -math.Pow(-x, 1/b.Lambda)
}

// Curvature is (1−λ)·x^(1/λ−2) of x = λz + 1.
func (b BoxCox) Curvature(z float64) float64 {
	if math.Abs(b.Lambda) < flat {
		return math.Exp(z)
	}
	x := b.Lambda*z + 1
	if x <= 0 {
		return 0
	}
	return (1 - b.Lambda) * math.Pow(x, 1/b.Lambda-2)
}

// Clip keeps a forecast within bounds, such as demand above 0 or a share below 1. Values beyond them are taken to lie
// on them.
type Clip struct {
	// Low and High are the bounds, Low at most High. Infinite ones do not bind.
	Low, High float64
}

// Name is the transform with its bounds: "clip(0, +Inf)".
func (c Clip) Name() string { return fmt.Sprintf("clip(%g, %g)", c.Low, c.High) }

// Forward is the value, or the bound that it is beyond.
func (c Clip) Forward(y float64) float64 { return min(max(y, c.Low), c.High) }

// Inverse is the forecast, or the bound that it is beyond.
func (c Clip) Inverse(z float64) float64 { return min(max(z, c.Low), c.High) }

// Curvature is 0.
func (Clip) Curvature(float64) float64 { return 0 }
