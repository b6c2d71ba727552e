package series_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/series"
)

func TestMeans(t *testing.T) {
	m := series.NewMeans(3, 2)
	for i, v := range []float64{1, 2, 3, 5, math.NaN(), 7, math.NaN(), math.NaN(), math.NaN(), 9} {
		m.Observe(int64(i+1), v)
	}
	got := m.Series(time.Minute)
	want := time.Unix(0, 0).Add(6 * time.Minute)
	if got.Len() != 2 || !got.Start.Equal(want) || got.Step != 3*time.Minute ||
		got.Values[0] != 6 || !math.IsNaN(got.Values[1]) {
		t.Errorf("%+v, want the means 6 and NaN from %s", got, want)
	}
	for index, mean := range map[int64]float64{3: math.NaN(), 4: 6, 6: 6, 7: math.NaN(), 12: math.NaN()} {
		if at := m.At(index); at != mean && !(math.IsNaN(at) && math.IsNaN(mean)) {
			t.Errorf("%v at step %d, want %v", at, index, mean)
		}
	}
	if !m.Ends(9) || m.Ends(10) {
		t.Error("the ends of means are wrong")
	}
}
