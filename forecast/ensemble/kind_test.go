package ensemble_test

import (
	"slices"
	"testing"

	"github.com/forewarm/forewarm/forecast/ensemble"
)

// What Without names takes no part, among the spare candidates of a short series too. The last value cannot be left out.
func TestWithout(t *testing.T) {
	series := hourly(requests(120, 1)...)
	kinds := func(without ...string) (out []string) {
		fitted, err := ensemble.Auto{Seasons: []int{24}, Without: without}.Estimate(series)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range fitted.Reasons().Candidates {
			if !c.TooCostly {
				out = append(out, c.Kind)
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	all := kinds()
	for _, kind := range []string{"Last value", "MSTL + auto-ETS of log", "seasonal Ridge AR of log", "Holt-Winters"} {
		if !slices.Contains(all, kind) {
			t.Errorf("%q is not among %q", kind, all)
		}
	}
	want := slices.DeleteFunc(slices.Clone(all), func(kind string) bool {
		return kind == "Seasonal naive" || kind == "MSTL + auto-ETS of log"
	})
	if got := kinds("MSTL + auto-ETS of log", "Seasonal naive", "Last value"); !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q", got, want)
	}
}
