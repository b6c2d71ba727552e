package autoscalers

import "k8s.io/client-go/tools/cache"

// ScaledObjects is what the watch keeps of the ScaledObjects.
func (w *Watch) ScaledObjects() cache.ReflectorStore { return w.kinds[1] }

// Size is how much is kept: autoscalers, and Forecasts that they name.
func (w *Watch) Size() (autoscalers, forecasts int) {
	for _, kind := range w.kinds {
		autoscalers += len(kind.List())
	}
	return autoscalers, len(w.byForecast)
}
