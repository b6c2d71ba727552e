package autoscalers

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

// index has the references of every autoscaler, by Forecast.
type index struct {
	// byAutoscaler are the references of an autoscaler. One without any is absent.
	byAutoscaler map[autoscalerID][]autoscaler.Reference
	// byForecast are the autoscalers that name a Forecast.
	byForecast map[snapshot.Key]map[autoscalerID]bool
	// references to a Forecast, in the order of the autoscalers' names. The slices are never modified, so that
	// callers can compare them by identity.
	references map[snapshot.Key][]autoscaler.Reference
}

// autoscalerID names an autoscaler in a cluster.
type autoscalerID struct{ namespace, kind, name string }

func newIndex() index {
	return index{
		byAutoscaler: map[autoscalerID][]autoscaler.Reference{},
		byForecast:   map[snapshot.Key]map[autoscalerID]bool{},
		references:   map[snapshot.Key][]autoscaler.Reference{},
	}
}

// set replaces the references of an autoscaler, if they changed.
func (x *index) set(name autoscalerID, references []autoscaler.Reference) {
	before := x.byAutoscaler[name]
	if len(before) == 0 && len(references) == 0 || reflect.DeepEqual(before, references) {
		return
	}
	touched := map[snapshot.Key]bool{}
	for i := range before {
		forecast := before[i].Forecast
		delete(x.byForecast[forecast], name)
		touched[forecast] = true
	}
	for i := range references {
		forecast := references[i].Forecast
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

// rebuild rebuilds the list of the references to a Forecast.
func (x *index) rebuild(forecast snapshot.Key) {
	if len(x.byForecast[forecast]) == 0 {
		delete(x.byForecast, forecast)
		delete(x.references, forecast)
		return
	}
	var all []autoscaler.Reference
	for _, name := range slices.SortedFunc(maps.Keys(x.byForecast[forecast]), compareNames) {
		for _, r := range x.byAutoscaler[name] {
			if r.Forecast == forecast {
				all = append(all, r)
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
