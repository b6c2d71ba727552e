package objective_test

import (
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide/objective"
)

// A goal says which kind of objective it is, in a few words and in full.
func TestGoal(t *testing.T) {
	share, ratio, quantile := 0.015, 20.0, 0.95
	for _, c := range []struct {
		late, badHours, price, quantile *float64
		short, full                     string
	}{
		{&share, nil, nil, nil, "1.5% late", "at most 1.5% of the demand over 7 days may wait longer than 1m"},
		{
			nil, &share, nil, nil, "1.5% in bad hours",
			"at most 1.5% of the demand over 7 days may arrive in bad hours (hours in which more than a tenth of the demand waits longer than 1m)",
		},
		{
			nil, nil, &ratio, nil, "late demand costs 20×",
			"a replica-hour of demand that waits longer than 1m costs as much as 20 idle replica-hours",
		},
		{nil, nil, nil, &quantile, "quantile 0.95", ""},
		{nil, nil, nil, nil, "", ""},
	} {
		if got := objective.Asked(c.late, c.badHours, c.price, c.quantile); got != c.short {
			t.Errorf("%q, want %q", got, c.short)
		}
		got := objective.NewGoal(c.late, c.badHours, c.price).Sentence(time.Minute, 7*24*time.Hour)
		if got != c.full && c.full != "" {
			t.Errorf("%q, want %q", got, c.full)
		}
	}
}
