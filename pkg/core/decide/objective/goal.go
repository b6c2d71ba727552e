package objective

import (
	"fmt"
	"strconv"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Goal is an objective or a price of late demand.
type Goal struct {
	// Late is the objective, a share between 0 and 1: of the demand that may be late or, with BadHours, that may arrive in bad hours.
	Late     float64
	BadHours bool
	// Price of a replica's worth of late demand, in idle replicas, instead of an objective; 0 for none.
	Price float64
}

// NewGoal returns the goal of an object that has one of the fields, or the zero value if it has none.
func NewGoal(late, badHours, price *float64) Goal {
	switch {
	case late != nil:
		return Goal{Late: *late}
	case badHours != nil:
		return Goal{Late: *badHours, BadHours: true}
	case price != nil:
		return Goal{Price: *price}
	}
	return Goal{}
}

// Asked describes a goal or a quantile, whichever is set, in a few words; empty if neither is set.
func Asked(late, badHours, price, quantile *float64) string {
	if quantile != nil {
		return "quantile " + strconv.FormatFloat(*quantile, 'g', 4, 64)
	}
	return NewGoal(late, badHours, price).String()
}

// String is the goal in a few words: "1% late", "1% in bad hours", "late demand costs 20×"; empty without one.
func (g Goal) String() string {
	switch {
	case g.Price > 0:
		return "late demand costs " + strconv.FormatFloat(g.Price, 'f', -1, 64) + "×"
	case g.Late > 0:
		return humanize.ShareAsWritten(g.Late) + " " + g.Limited()
	}
	return ""
}

// Limited describes the demand that the goal limits: late, or in bad hours.
func (g Goal) Limited() string {
	if g.BadHours {
		return "in bad hours"
	}
	return "late"
}

// Sentence is the goal in full, without a period at its end. Demand that waits longer than wait is late. The budget's period of an
// objective is over; 0 leaves it out.
func (g Goal) Sentence(wait, over time.Duration) string {
	longer := "longer than " + humanize.Span(wait)
	if g.Price > 0 {
		return fmt.Sprintf("a replica-hour of demand that waits %s costs as much as %.6g idle replica-hours", longer,
			g.Price)
	}
	text := "at most " + humanize.ShareAsWritten(g.Late) + " of the demand "
	if over > 0 {
		text += "over " + humanize.Period(over) + " "
	}
	if g.BadHours {
		return text + "may arrive in bad hours (hours in which more than a tenth of the demand waits " + longer + ")"
	}
	return text + "may wait " + longer
}
