package explain //nolint:testpackage // The text is not exported.

import (
	"testing"

	inspect "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
)

// An explanation says which kind of objective a Forecast has.
func TestGoalText(t *testing.T) {
	t.Parallel()
	share, ratio := 0.015, 20.0
	for want, s := range map[string]inspect.OutlookStatus{
		"late 1.5%": {Late: &share}, "bad hours 1.5%": {BadHours: &share}, "late costs 20×": {CostRatio: &ratio}, "": {},
	} {
		if got := goalText(&s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
