package snapshot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
)

// Alias is a second name of a Forecast among External metrics: the name of a metric, and labels. A request must select exactly these
// labels. In the metrics store, a selector with fewer labels would be a sum over several series, and the Forecast is only one of them.
type Alias struct {
	Metric string
	Labels map[string]string
	// Created is when its Forecast was created; zero for a Forecast from a folder.
	Created time.Time
}

// String returns metric{label="value",…} in the order of the labels.
func (a *Alias) String() string {
	var out strings.Builder
	out.WriteString(a.Metric + "{")
	for i, label := range slices.Sorted(maps.Keys(a.Labels)) {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(label + "=" + strconv.Quote(a.Labels[label]))
	}
	out.WriteByte('}')
	return out.String()
}

// Key is the alias in a namespace. No Forecast has such a name, because of its braces.
func (a *Alias) Key(namespace string) Key { return Key{Namespace: namespace, Name: a.String()} }

// AliasOf returns the alias that the pairs of a selector refer to, and the pairs that request another view of its Forecast.
func AliasOf(metric string, selected map[string]string) (alias *Alias, view map[string]string) {
	alias, view = &Alias{Metric: metric, Labels: map[string]string{}}, map[string]string{}
	views := decide.ViewKeys()
	for key, value := range selected {
		if slices.Contains(views, key) {
			view[key] = value
		} else {
			alias.Labels[key] = value
		}
	}
	return alias, view
}

// Holders returns the Forecast that answers under each alias. The aliases contain all Forecasts; nil for a Forecast without an alias. An
// alias whose metric is the name of another Forecast has no holder, because names take precedence. If several Forecasts have the same
// alias, the oldest one holds it, so that an HPA keeps the value that it reads. If they are equally old, the first one by name holds it.
func Holders(aliases map[Key]*Alias) map[Key]Key {
	out := map[Key]Key{}
	for key, alias := range aliases {
		if alias == nil || hidden(aliases, key, alias) {
			continue
		}
		at := alias.Key(key.Namespace)
		held, taken := out[at]
		if !taken || cmp.Or(alias.Created.Compare(aliases[held].Created), compareKeys(key, held)) < 0 {
			out[at] = key
		}
	}
	return out
}

// hidden reports whether the metric of an alias is the name of another Forecast.
func hidden(aliases map[Key]*Alias, key Key, alias *Alias) bool {
	_, taken := aliases[Key{Namespace: key.Namespace, Name: alias.Metric}]
	return taken && alias.Metric != key.Name
}

// ByAlias returns the entry that answers under an alias in a namespace; nil if there is none.
func (s *Snapshot) ByAlias(namespace string, alias *Alias) *ForecastSnapshot {
	if holder, held := s.holders[alias.Key(namespace)]; held {
		return s.entries[holder]
	}
	return nil
}

// Exposing returns the entries of a namespace that answer under aliases of a metric, in order of name. Read only.
func (s *Snapshot) Exposing(namespace, metric string) []*ForecastSnapshot {
	return s.exposing[Key{Namespace: namespace, Name: metric}]
}

// resolveAliases finds the holder of each alias, and adds the condition Exposed to the entries that have an alias.
func (s *Snapshot) resolveAliases() {
	if !slices.ContainsFunc(s.keys, func(key Key) bool { return s.entries[key].Alias != nil }) {
		return
	}
	aliases := make(map[Key]*Alias, len(s.keys))
	for _, key := range s.keys {
		aliases[key] = s.entries[key].Alias
	}
	s.holders, s.exposing = Holders(aliases), map[Key][]*ForecastSnapshot{}
	for _, key := range s.keys {
		e := s.entries[key]
		if e.Alias == nil {
			continue
		}
		c := e.exposedCondition(s.holders[e.Alias.Key(key.Namespace)])
		e.Conditions = append(e.Conditions, c)
		if c.True {
			metric := Key{Namespace: key.Namespace, Name: e.Alias.Metric}
			s.exposing[metric] = append(s.exposing[metric], e)
		}
	}
}

// exposedCondition says whether an entry holds its alias. The holder is the zero value if the alias is the name of another Forecast.
func (e *ForecastSnapshot) exposedCondition(holder Key) Condition {
	c := Condition{Type: ConditionExposed, Reason: reasonExposed}
	switch holder {
	case e.Key:
		c.True, c.Message = true, "Forewarm also answers requests for the External metric "+e.Alias.String()+"; the "+
			"condition Reachable says whether an HPA can reach External metrics"
	case Key{}:
		c.Reason = reasonNameTaken
		c.Message = fmt.Sprintf("another Forecast has the name %s, so Forewarm does not answer requests for the "+
			"alias %s: rename that Forecast, or remove spec.expose from this one", e.Alias.Metric, e.Alias)
	default:
		c.Reason = reasonAliasTaken
		c.Message = fmt.Sprintf("the Forecast %s is older and already answers requests for %s: remove spec.expose "+
			"from that Forecast to use the alias here, or remove it from this Forecast", holder.Name, e.Alias)
	}
	return c
}
