package explain //nolint:testpackage // How a value is read is internal.

import (
	"math"
	"testing"
)

// Whatever is given as a value, it is refused in a few words, or it is one that the metrics API can hold.
func FuzzValue(f *testing.F) {
	for _, text := range []string{"180", "4.5k", "-1", "1e-30000000", "1e99", "9e15", "a=b=1", "NaN", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := parseValue(text)
		if err != nil && len(err.Error()) > 1200 {
			t.Fatalf("%q: %d bytes: %v", text, len(err.Error()), err)
		}
		if v == math.MinInt64 || v == math.MaxInt64 {
			t.Fatalf("%q is the value %d", text, v)
		}
	})
}
