package metricsapi

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/forewarm/forewarm/pkg/decide"
)

// parse reads a metric's label selector. Only what picks one value is meaningful: "=" and "in" with one value.
func parse(selector labels.Selector) (decide.Selection, error) {
	if selector == nil || selector.Empty() {
		return decide.Selection{}, nil
	}
	requirements, selectable := selector.Requirements()
	if !selectable {
		return decide.Selection{}, fmt.Errorf("%w: it selects nothing", decide.ErrSelection)
	}
	pairs := make(map[string]string, len(requirements))
	for i := range requirements {
		key, value, err := pair(&requirements[i])
		if err != nil {
			return decide.Selection{}, err
		}
		if other, twice := pairs[key]; twice && other != value {
			return decide.Selection{}, fmt.Errorf(
				"%w: %.64s is both %.64q and %.64q",
				decide.ErrSelection,
				key,
				other,
				value,
			)
		}
		pairs[key] = value
	}
	return decide.ParseSelection(pairs)
}

func pair(r *labels.Requirement) (key, value string, err error) {
	values := r.ValuesUnsorted()
	one := []selection.Operator{selection.Equals, selection.DoubleEquals, selection.In}
	if len(values) == 1 && slices.Contains(one, r.Operator()) {
		return r.Key(), values[0], nil
	}
	return "", "", fmt.Errorf("%w: %.128q picks no single value, write for example quantile=0.95 (matchLabels)",
		decide.ErrSelection, r.String())
}
