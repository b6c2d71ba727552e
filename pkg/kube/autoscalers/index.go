package autoscalers

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// index has the references of every autoscaler, by Forecast.
type index struct {
	// byAutoscaler are the references of an autoscaler. One without any is absent.
	byAutoscaler map[autoscalerID][]manifest.Reference
	// byForecast are the autoscalers that name a Forecast, or an alias of one.
	byForecast map[snapshot.Key]map[autoscalerID]bool
	// references to a Forecast, in the order of the autoscalers' names. The slices are never modified, so that
	// callers can compare them by identity.
	references map[snapshot.Key][]manifest.Reference
}

// autoscalerID names an autoscaler in a cluster.
type autoscalerID struct{ namespace, kind, name string }

func newIndex() index {
	return index{
		byAutoscaler: map[autoscalerID][]manifest.Reference{},
		byForecast:   map[snapshot.Key]map[autoscalerID]bool{},
		references:   map[snapshot.Key][]manifest.Reference{},
	}
}

// set replaces the references of an autoscaler, if they changed.
func (x *index) set(name autoscalerID, references []manifest.Reference) {
	before := x.byAutoscaler[name]
	if len(before) == 0 && len(references) == 0 || reflect.DeepEqual(before, references) {
		return
	}
	touched := map[snapshot.Key]bool{}
	for _, forecast := range named(before) {
		delete(x.byForecast[forecast], name)
		touched[forecast] = true
	}
	for _, forecast := range named(references) {
		if x.byForecast[forecast] == nil {
			x.byForecast[forecast] = map[autoscalerID]bool{}
		}
		x.byForecast[forecast][name] = true
		touched[forecast] = true
	}
	x.byAutoscaler[name] = references
	if len(references) == 0 {
		delete(x.byAutoscaler, name)
	}
	for forecast := range touched {
		x.rebuild(forecast)
	}
}

// named returns the Forecasts and the aliases that references name.
func named(references []manifest.Reference) []snapshot.Key {
	var out []snapshot.Key
	for i := range references {
		out = append(out, references[i].Forecast)
		if alias := references[i].Alias; alias.Name != "" {
			out = append(out, alias)
		}
	}
	return out
}

// rebuild rebuilds the list of the references to a Forecast.
func (x *index) rebuild(forecast snapshot.Key) {
	if len(x.byForecast[forecast]) == 0 {
		delete(x.byForecast, forecast)
		delete(x.references, forecast)
		return
	}
	var all []manifest.Reference
	for _, name := range slices.SortedFunc(maps.Keys(x.byForecast[forecast]), compareNames) {
		for _, r := range x.byAutoscaler[name] {
			switch forecast {
			case r.Forecast:
				all = append(all, r)
			case r.Alias:
				all = append(all, r.ByAlias())
			}
		}
	}
	x.references[forecast] = all
}

// compareNames orders the autoscalers of a namespace.
func compareNames(a, b autoscalerID) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
}

// retain removes the autoscalers that are not wanted.
func (x *index) retain(wanted func(autoscalerID) bool) {
	for name := range x.byAutoscaler {
		if !wanted(name) {
			x.set(name, nil)
		}
	}
}
