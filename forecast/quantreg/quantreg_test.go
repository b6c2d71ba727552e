package quantreg_test

import (
	"testing"

	"github.com/forewarm/forewarm/forecast/quantreg"
)

// stackLoss are Brownlee's 21 days of a plant that oxidises ammonia (1965): air flow, water temperature, acid, loss.
func stackLoss() quantreg.Rows {
	var rows quantreg.Rows
	for _, r := range [][4]float64{
		{80, 27, 89, 42}, {80, 27, 88, 37}, {75, 25, 90, 37}, {62, 24, 87, 28}, {62, 22, 87, 18}, {62, 23, 87, 18},
		{62, 24, 93, 19}, {62, 24, 93, 20}, {58, 23, 87, 15}, {58, 18, 80, 14}, {58, 18, 89, 14}, {58, 17, 88, 13},
		{58, 18, 82, 11}, {58, 19, 93, 12}, {50, 18, 89, 8}, {50, 18, 86, 7}, {50, 19, 72, 8}, {50, 19, 79, 8},
		{50, 20, 80, 9}, {56, 20, 82, 15}, {70, 20, 91, 15},
	} {
		rows.X = append(rows.X, 1, r[0], r[1], r[2])
		rows.Y = append(rows.Y, r[3])
	}
	return rows
}

func TestStackLoss(t *testing.T) {
	for _, eps := range []float64{1e-2, 1e-4, 1e-6} {
		for _, passes := range []int{5, 20, 100, 1000} {
			c, err := quantreg.Regression{Level: 0.5, Epsilon: eps, Passes: passes}.Fit(stackLoss())
			t.Log(eps, passes, c, err)
		}
	}
}
