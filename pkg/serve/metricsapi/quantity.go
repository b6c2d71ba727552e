package metricsapi

import (
	"errors"
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/api/resource"
)

// errQuantity: the value is none that a metric can carry.
var errQuantity = errors.New("no metric can carry the value")

// mostMilli is the first value whose thousandths overflow an int64. The HPA reads every metric in thousandths, so that
// a larger quantity, though the API could carry it, would arrive as a wrong number.
const mostMilli = math.MaxInt64 / 1000

// quantity is a value in thousandths, rounded up so that it never asks for less than the forecast.
func quantity(value float64) (resource.Quantity, error) {
	if !(value >= 0) || value >= mostMilli {
		return resource.Quantity{}, fmt.Errorf(
			"%w: %g is not from 0 to %.3g, state the demand in a larger unit", errQuantity, value, float64(mostMilli))
	}
	return *resource.NewMilliQuantity(int64(math.Ceil(value*1000)), resource.DecimalSI), nil
}
