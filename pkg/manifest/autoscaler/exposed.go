package autoscaler

import (
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

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
	aliases := map[snapshot.Key]*snapshot.Alias{}
	for i := range all {
		f, key := &all[i], snapshot.Key{Namespace: all[i].Namespace, Name: all[i].Name}
		if aliases[key] = nil; f.Spec.Expose != nil {
			aliases[key] = &snapshot.Alias{
				Metric: f.Spec.Expose.Metric, Labels: f.Spec.Expose.MatchLabels, Created: f.CreationTimestamp.Time,
			}
		}
	}
	return snapshot.Holders(aliases)[alias.Key(namespace)].Name, view
}
