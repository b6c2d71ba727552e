package autoscalers

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

// index has the references of every autoscaler, by the Forecast that they name.
type index struct {
	// of are those of an autoscaler; one without any is not there.
	of map[id][]autoscaler.Reference
	// to are the autoscalers that name a Forecast.
	to map[snapshot.Key]map[id]bool
	// found are the references to a Forecast, in the order of the autoscalers' names. The slices are never changed, so that
	// whoever got one has still the same one where nothing has changed.
	found map[snapshot.Key][]autoscaler.Reference
}

// id is an autoscaler in a cluster.
type id struct{ namespace, kind, name string }

func newIndex() index {
	return index{
		of:    map[id][]autoscaler.Reference{},
		to:    map[snapshot.Key]map[id]bool{},
		found: map[snapshot.Key][]autoscaler.Reference{},
	}
}

// set replaces the references of an autoscaler; where they are the same, nothing happens.
func (x *index) set(name id, references []autoscaler.Reference) {
	before := x.of[name]
	if len(before) == 0 && len(references) == 0 || reflect.DeepEqual(before, references) {
		return
	}
	touched := map[snapshot.Key]bool{}
	for i := range before {
		forecast := before[i].Forecast
		delete(x.to[forecast], name)
		touched[forecast] = true
	}
	for i := range references {
		forecast := references[i].Forecast
		if x.to[forecast] == nil {
			x.to[forecast] = map[id]bool{}
		}
		x.to[forecast][name] = true
		touched[forecast] = true
	}
	x.of[name] = references
	if len(references) == 0 {
		delete(x.of, name)
	}
	for forecast := range touched {
		x.gather(forecast)
	}
}

// gather makes the list of the references to a Forecast anew.
func (x *index) gather(forecast snapshot.Key) {
	if len(x.to[forecast]) == 0 {
		delete(x.to, forecast)
		delete(x.found, forecast)
		return
	}
	var all []autoscaler.Reference
	for _, name := range slices.SortedFunc(maps.Keys(x.to[forecast]), byName) {
		for _, r := range x.of[name] {
			if r.Forecast == forecast {
				all = append(all, r)
			}
		}
	}
	x.found[forecast] = all
}

// byName orders the autoscalers of a namespace.
func byName(a, b id) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name)) }

// keep drops the autoscalers of which a function says no.
func (x *index) keep(wanted func(id) bool) {
	for name := range x.of {
		if !wanted(name) {
			x.set(name, nil)
		}
	}
}
