package ensemble

import (
	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/intermittent"
)

// manyZeros is the share of zeros from which on models of intermittent demand take part.
const manyZeros = 0.2

// intermittents are candidates for a series with many zeros, none for others. They cost next to nothing.
func intermittents(s forecast.Series) []candidate {
	zeros := 0
	for _, y := range s.Values {
		if y == 0 {
			zeros++
		}
	}
	if float64(zeros) < manyZeros*float64(s.Observed()) {
		return nil
	}
	return []candidate{
		{model: intermittent.Croston{Corrected: true}, perStep: costSmoothing},
		{model: intermittent.TSB{}, perStep: costSmoothing},
	}
}

// nights are the probabilities that a slot of the shortest season is 0. Errors of the whole day say nothing of one slot:
// where it is 0 with a probability of p, its p-quantile is 0, whatever they are. Without a season there are none.
func nights(seasons []int, n int) intermittent.Slots {
	if len(seasons) == 0 || n < 2*seasons[0] {
		return intermittent.Slots{}
	}
	return intermittent.NewSlots(seasons[0])
}
