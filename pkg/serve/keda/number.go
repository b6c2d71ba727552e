package keda

import (
	"errors"
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// most is the first value whose thousandths overflow an int64. The HPA reads every metric in thousandths, so that a larger
// one would arrive as a wrong number.
const most = math.MaxInt64 / 1000

// errValue: the value is none that a metric can carry.
var errValue = errors.New("no metric can carry the value")

// carriable is nil for what a metric can carry: from 0 to most. NaN is not.
func carriable(value float64) error {
	if value >= 0 && value < most {
		return nil
	}
	return fmt.Errorf("%w: %g is not from 0 to %.3g, state the demand in a larger unit", errValue, value, float64(most))
}

// thousandths rounds a demand up to the metric's resolution, so that it never asks for less than the forecast.
func thousandths(demand float64) float64 { return math.Ceil(demand*1000) / 1000 }

// whole rounds up to what the fields of old KEDAs hold.
func whole(value float64) int64 { return int64(math.Ceil(value)) }

// quantity reads a demand as an HPA's targets are written: 64, 0.5, 500m, 4k, 1e3.
func quantity(key, text string) (float64, error) {
	const example = "write for example 64, 0.5 or 4k"
	if !v1alpha1.BoundedQuantity(text) {
		return 0, fmt.Errorf("%s=%.64q is not a quantity, %s", key, text, example)
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return 0, fmt.Errorf("%s=%.64q is not a quantity, %s", key, text, example)
	}
	value := math.Round(q.AsApproximateFloat64()*1000) / 1000
	if !(value >= 0 && value < most) {
		return 0, fmt.Errorf("%s=%.64q is not from 0 to %.3g, %s", key, text, float64(most), example)
	}
	return value, nil
}
