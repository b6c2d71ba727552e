package metricsapi

import (
	"fmt"
	"maps"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// lookUpExternal is lookUp for an External metric. It returns the Forecast with the metric's name, or else the Forecast that exposes the
// name with the labels of the selector, or else the fleet. A Forecast may expose its own name.
func (p *Provider) lookUpExternal(key snapshot.Key, selector labels.Selector) (servedMetric, error) {
	newest := p.snapshots.Load()
	if newest == nil {
		return servedMetric{}, noData()
	}
	exposing := newest.Exposing(key.Namespace, key.Name)
	if len(exposing) == 0 {
		if state := p.fleetOf(key); state != nil && newest.Get(key) == nil {
			return p.spare(state, selector)
		}
		return p.lookUp(key, selector)
	}
	asked, err := selectorPairs(selector)
	if err != nil {
		return servedMetric{}, apierrors.NewBadRequest(err.Error() + "; " + listAliases(exposing))
	}
	alias, view := snapshot.AliasOf(key.Name, asked)
	entry := newest.ByAlias(key.Namespace, alias)
	switch {
	case entry != nil:
		return p.answerExposed(entry, view)
	case newest.Get(key) != nil:
		return p.lookUp(key, selector)
	}
	missing := apierrors.NewNotFound(forecasts(), key.Name)
	missing.ErrStatus.Message = fmt.Sprintf("no Forecast in the namespace exposes %s; %s", alias, listAliases(exposing))
	return servedMetric{}, missing
}

// answerExposed answers under an entry's alias. The item has the labels of the alias.
func (p *Provider) answerExposed(entry *snapshot.ForecastSnapshot, view map[string]string) (servedMetric, error) {
	selection, err := decide.ParseSelector(view)
	if err != nil {
		return servedMetric{}, statusError(entry.Key, err)
	}
	answer, err := entry.AnswerExposed(selection, p.now())
	out, err := served(entry, &answer, selection, err)
	if own := maps.Clone(entry.Alias.Labels); own != nil {
		maps.Copy(own, out.labels)
		out.labels = own
	}
	return out, err
}

// listAliases lists the aliases of a metric, and says how to select one.
func listAliases(exposing []*snapshot.ForecastSnapshot) string {
	const most = 5
	var names []string
	for _, e := range exposing[:min(most, len(exposing))] {
		names = append(names, e.Alias.String()+" (Forecast "+e.Key.Name+")")
	}
	if more := len(exposing) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return "the exposed metrics are " + strings.Join(names, ", ") +
		": select exactly the labels of one of them, or create another Forecast that exposes the requested sum"
}
