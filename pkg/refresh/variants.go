package refresh

import (
	"fmt"
	"math"
	"strings"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// shareOut shares the value of an entry out among its variants.
func shareOut(e *snapshot.ForecastState, t *Job) {
	if !e.State.Serves() || len(e.Plan) != len(t.Variants) {
		return
	}
	e.Parts = e.Plan.Share(e.Decision.Value)
	if c, there := variantsCondition(e, t); there {
		e.Conditions = append(e.Conditions, c)
	}
}

// variantsCondition is present while a variant does not hold what it would be asked for, or an autoscaler reads what is for all.
func variantsCondition(e *snapshot.ForecastState, t *Job) (snapshot.Condition, bool) {
	c := snapshot.Condition{Type: snapshot.ConditionVariants}
	var limited []string
	for _, part := range e.Parts {
		if part.Limited {
			limited = append(
				limited,
				fmt.Sprintf("variant %s is asked for %s and no more, because some have found no node for longer than "+
					"a start takes", part.Name, humanize.Plural(int(math.Round(part.Value/part.Capacity)), "replica")),
			)
		}
	}
	switch {
	case len(t.ReadWhole) > 0:
		c.Reason = reasonReadsWhole
		c.Message = fmt.Sprintf("%s reads the value for all variants: add matchLabels {variant: %s} to its metric",
			strings.Join(t.ReadWhole, ", "), t.Variants[0].Name)
	case len(limited) > 0:
		c.Reason = reasonVariantFull
		c.Message = strings.Join(limited, "; ") + "; the other variants have the rest"
	}
	return c, c.Reason != ""
}
