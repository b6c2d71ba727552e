package autoscalers

import (
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// Index is the index, for a test that compares it with a plain one.
type Index struct{ index }

// NewIndex is an empty one.
func NewIndex() Index { return Index{newIndex()} }

// Set replaces the references of an autoscaler.
func (x *Index) Set(kind, name string, references []manifest.Reference) {
	x.set(autoscalerID{namespace: "default", kind: kind, name: name}, references)
}

// Found are the references to a Forecast.
func (x *Index) Found(forecast snapshot.Key) []manifest.Reference { return x.references[forecast] }

// Size is how much is kept: autoscalers, and Forecasts that they name.
func (x *Index) Size() (autoscalers, forecasts int) { return len(x.byAutoscaler), len(x.byForecast) }
