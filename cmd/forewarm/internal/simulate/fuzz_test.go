package simulate_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/simulate"
)

// Whatever a flag is set to, it is refused in a few words, or within its bounds and the same when it is written and read
// again.
func FuzzFlags(f *testing.F) {
	for _, text := range []string{
		"5m", "5m,p90=8m", " 1h , p90 = 2h", "24h0m1s", "-5m", "5m,p90=NaN", "9223372036854775807ns", "1%", "0.1 %", "1e-400%", "NaN%",
		"0x1p-1%", "99.99999999999999999%", "64", "0.5", "4k", "1e99", "1e-30000000", "9.3e15", "1Ei", "+Inf", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		short := func(err error) {
			t.Helper()
			if len(err.Error()) > 200 {
				t.Fatalf("%q: %v", text, err)
			}
		}
		var lead, leadAgain simulate.Lead
		if err := lead.Set(text); err != nil {
			short(err)
		} else if err := leadAgain.Set(lead.String()); err != nil || lead != leadAgain ||
			lead.Median <= 0 || lead.Median > 24*time.Hour || lead.P90 != 0 && lead.P90 < lead.Median {
			t.Fatalf("%q is %+v, then %+v, %v", text, lead, leadAgain, err)
		}
		var share simulate.Share
		if err := share.Set(text); err != nil {
			short(err)
		} else if !(share > 0 && share < 1) {
			t.Fatalf("%q is the share %v", text, float64(share))
		}
		var quantity, quantityAgain simulate.Quantity
		if err := quantity.Set(text); err != nil {
			short(err)
		} else if err := quantityAgain.Set(quantity.String()); err != nil || !(quantity > 0) || math.IsInf(float64(quantity), 0) ||
			math.Abs(float64(quantity-quantityAgain)) > 1e-6*float64(quantity)+0.001 {
			t.Fatalf("%q is the quantity %v, then %v, %v", text, float64(quantity), float64(quantityAgain), err)
		}
	})
}
