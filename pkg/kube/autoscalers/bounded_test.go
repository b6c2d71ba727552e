package autoscalers //nolint:testpackage // What is kept of one object, without a cluster.

import (
	"fmt"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/kube/informer"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

// However large an autoscaler is, little is kept of it, and one that is refused says why.
func TestWhatIsKeptOfALargeAutoscaler(t *testing.T) {
	read := func(metrics, policies int, name string) *references {
		h := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "h"}}
		rules := &autoscalingv2.HPAScalingRules{}
		for range policies {
			period := int32(time.Minute / time.Second)
			rules.Policies = append(
				rules.Policies,
				autoscalingv2.HPAScalingPolicy{Type: "Pods", Value: 1, PeriodSeconds: period},
			)
		}
		h.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: rules, ScaleDown: rules}
		value := resource.MustParse("10")
		for i := range metrics {
			h.Spec.Metrics = append(h.Spec.Metrics, autoscalingv2.MetricSpec{
				Type: autoscalingv2.ExternalMetricSourceType,
				External: &autoscalingv2.ExternalMetricSource{
					Metric: autoscalingv2.MetricIdentifier{Name: fmt.Sprint(name, i)},
					Target: autoscalingv2.MetricTarget{
						Type:         autoscalingv2.AverageValueMetricType,
						AverageValue: &value,
					},
				},
			})
		}
		found := references(autoscaler.References(autoscaler.FromHPA(h)))
		return found.bounded()
	}
	if found := read(8, 4, "f"); len(*found) != 8 || (*found)[0].Refused != "" {
		t.Errorf("a sensible one: %d references, %q", len(*found), (*found)[0].Refused)
	}
	for name, found := range map[string]*references{"many metrics": read(5000, 4, "f"), "many policies": read(2, 5000, "f")} {
		if len(*found) != 1 || !strings.Contains((*found)[0].Refused, "use fewer metrics") ||
			informer.SizeOf(*found) > maxSize {
			t.Errorf(
				"%s: %d references of %d bytes, %q",
				name,
				len(*found),
				informer.SizeOf(*found),
				(*found)[0].Refused,
			)
		}
	}
	if found := read(1, 4, strings.Repeat("f", 1<<20)); found != nil {
		t.Errorf("of a name of a MiB %d bytes are kept", informer.SizeOf(*found))
	}
}
