package autoscaler

import (
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/forewarm/forewarm/pkg/decide"
	"github.com/forewarm/forewarm/pkg/hpa"
	"github.com/forewarm/forewarm/pkg/leadtime"
	"github.com/forewarm/forewarm/pkg/snapshot"
)

// Reference is one metric of an autoscaler that names a Forecast. It holds nothing of the object that it was read from.
type Reference struct {
	// Forecast that is named, in the autoscaler's own namespace.
	Forecast snapshot.Key
	// By is the autoscaler: "HorizontalPodAutoscaler/llama" or "ScaledObject/llama".
	By string
	// Scales is the workload that it scales.
	Scales leadtime.Workload
	// Spec is how it scales on this metric. The metric's target is 0 where it is left to the Forecast to say (a trigger of
	// KEDA may).
	Spec hpa.Spec
	// Refused says why the metric cannot count, and what to write instead; empty where it can.
	Refused string
}

// metric is the one metric of a Reference's Spec: a total, compared with what a replica sustains.
func metric(forecast string, source hpa.Source, target int64) []hpa.Metric {
	return []hpa.Metric{{Name: forecast, Source: source, Type: hpa.AverageValue, Target: target}}
}

// most is the first value whose thousandths overflow an int64.
const most = math.MaxInt64 / 1000

// thousandths is a target in milli-units, rounded up as the HPA's controller does; or why it is none.
func thousandths(target *resource.Quantity) (milli int64, problem string) {
	switch {
	case target == nil || target.Sign() <= 0:
		return 0, "its averageValue is not above 0: write what one replica sustains"
	case target.AsApproximateFloat64() >= most:
		return 0, fmt.Sprintf("its averageValue is not below %.3g: state the demand in a larger unit", float64(most))
	}
	return target.MilliValue(), ""
}

// judge says why the view of a Forecast that a metric asks for cannot count; empty where it can. A view with another
// objective or another mode is of the same shape and workload; one of another horizon or model, or a quantile, is not
// what the objective rules.
func judge(asked map[string]string) string {
	selection, err := decide.ParseSelection(asked)
	switch {
	case err != nil:
		return "what it asks for is refused: " + err.Error()
	case selection.Model != "":
		return fmt.Sprintf("it asks for model=%.64s, which no objective rules", selection.Model)
	case selection.Quantile != 0:
		return fmt.Sprintf("it asks for quantile=%v, which no objective rules", selection.Quantile)
	case selection.Horizon != 0:
		return fmt.Sprintf("it asks for horizon=%s, which no objective rules", selection.Horizon)
	}
	return ""
}
