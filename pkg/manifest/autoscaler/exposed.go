package autoscaler

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// HPAs is the resource of HorizontalPodAutoscalers.
func HPAs() schema.GroupVersionResource {
	return autoscalingv2.SchemeGroupVersion.WithResource("horizontalpodautoscalers")
}

// ScaledObjects is that of KEDA's autoscalers. A cluster need not have it.
func ScaledObjects() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "keda.sh", Version: "v1alpha1", Resource: "scaledobjects"}
}

// Exposing returns the Forecast that answers the metric of an HPA of a namespace by its alias, of all Forecasts, and the view of it
// that the metric asks for; an empty name where none does.
func (s *Source) Exposing(namespace string, all []v1alpha1.Forecast) (name string, view map[string]string) {
	if s.Metric == nil {
		return "", nil
	}
	read, found := forecastMetric(s.Metric)
	if !found {
		return "", nil
	}
	alias, view := aliasOf(&read)
	if alias == nil {
		return "", nil
	}
	return AliasHolders(all)[alias.Key(namespace)].Name, view
}

// AliasHolders returns the Forecast that answers under each alias (snapshot.Alias.Key), of all Forecasts.
func AliasHolders(all []v1alpha1.Forecast) map[snapshot.Key]snapshot.Key {
	aliases := map[snapshot.Key]*snapshot.Alias{}
	for i := range all {
		f, key := &all[i], snapshot.Key{Namespace: all[i].Namespace, Name: all[i].Name}
		if aliases[key] = nil; f.Spec.Expose != nil {
			aliases[key] = &snapshot.Alias{
				Metric: f.Spec.Expose.Metric, Labels: f.Spec.Expose.MatchLabels, Created: f.CreationTimestamp.Time,
			}
		}
	}
	return snapshot.Holders(aliases)
}
