package explain

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// spare returns the metric if it counts the spare GPUs of a fleet; nil for others.
func (m *Metric) spare() *hpa.AutoscalerMetric {
	if m.Forecast != nil || m.Of == nil || m.Of.Fleet == "" {
		return nil
	}
	return m.Of
}

// warnSpareKept warns about settings with which an HPA keeps replicas on GPUs that the members of a fleet need.
func (t *explainer) warnSpareKept(i int) {
	m := &t.s.Spec.Metrics[i]
	if t.s.Metrics[i].spare() == nil || m.Type != hpa.AverageValue {
		return
	}
	var kept []string
	if m.Target < 1000 {
		kept = append(kept, fmt.Sprintf("with a target of %s instead of 1 it asks for more replicas than may run",
			formatMilli(m.Target)))
	}
	if _, down := t.s.Spec.Tolerances(); down > 0 {
		at := int32(math.Ceil(1 / down))
		kept = append(kept, fmt.Sprintf("with a tolerance of %s%%, %d replicas or more keep at least one too many",
			formatNumber(100*down), at))
	}
	if window := t.s.Spec.DownStabilization(); window > 0 {
		kept = append(kept, "it scales down only "+humanize.Span(window)+" after the value has fallen")
	}
	if len(kept) == 0 {
		return
	}
	const advice = `write averageValue: "1" and behavior: {scaleDown: {tolerance: "0", stabilizationWindowSeconds: 0}} ` +
		"(from Kubernetes 1.35 on), or run Jobs: a ScaledJob of KEDA with this trigger alone, strategy default and a " +
		"maxReplicaCount starts no Job too many"
	t.warn(SpareGPUsKept, advice, "%s counts spare GPUs, and this HPA keeps some that the members need: %s",
		m.Name, humanize.List(kept))
}
