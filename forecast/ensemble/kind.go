package ensemble

import (
	"slices"
	"strings"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/autoregress"
	"github.com/forewarm/forewarm/forecast/decompose"
	"github.com/forewarm/forewarm/forecast/naive"
	"github.com/forewarm/forewarm/forecast/transform"
)

// wanted are the candidates but for those that the options leave out.
func (m Auto) wanted(all []candidate) []candidate {
	return slices.DeleteFunc(all, func(c candidate) bool {
		_, last := c.model.(naive.Last)
		return !last && slices.Contains(m.Without, kind(c.model))
	})
}

// kind is the name of a model without its numbers, which come of the seasons and the data.
func kind(of forecast.Model) string {
	switch m := of.(type) {
	case nil:
		return "Median"
	case transform.Log:
		return kind(m.Model) + " of log"
	case withoutGaps:
		return kind(m.Model)
	case decompose.Profile:
		return "Profile + " + kind(m.Model)
	case decompose.Seasonal:
		return "MSTL + " + kind(m.Model)
	case autoregress.Ridge:
		switch {
		case m.HalfLife == 0:
			return "Ridge AR"
		case m.Profile == 0:
			return "seasonal Ridge AR"
		default:
			return "seasonal Ridge AR around a profile"
		}
	default:
		name := m.Name()
		if end := strings.IndexAny(name, "[("); end > 0 {
			name = name[:end]
		}
		return name
	}
}
