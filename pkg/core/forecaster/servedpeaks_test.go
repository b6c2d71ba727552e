package forecaster_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// The served peaks are the highest values of every five minutes, those of the replayed history included, and keeping them changes no value.
func TestServedPeaks(t *testing.T) {
	demand := shopping(rand.New(rand.NewPCG(8, 8)))
	s := forecast.Series{Step: 30 * time.Second, Start: start.Add(-30 * time.Hour)}
	for at := s.Start; at.Before(start); at = at.Add(s.Step) {
		s.Values = append(s.Values, demand(at))
	}
	c := config()
	c.Step = s.Step
	without := forecaster.New(c, forecaster.History{Series: s})
	c.KeepServedPeaks = true
	whole := forecaster.New(c, forecaster.History{Series: s})
	half := s
	half.Values = s.Values[:s.Len()/2]
	stepped := forecaster.New(c, forecaster.History{Series: half})
	for _, v := range s.Values[half.Len():] {
		stepped.Step(plain(v))
	}
	got := peaks(whole)
	last := got.TimeAt(got.Len() - 1)
	if !last.Equal(start.Add(-got.Step)) || got.Step != 5*time.Minute || got.Len() != 30*12 {
		t.Fatalf("%d peaks every %s until %s", got.Len(), got.Step, last)
	}
	if fmt.Sprint(got.Values) != fmt.Sprint(peaks(stepped).Values) {
		t.Error("a replayed history has other peaks than the same history step by step")
	}
	past := described(whole).Past
	if fmt.Sprint(described(without).Past) != fmt.Sprint(past) || len(past) < 200 {
		t.Errorf("%d served values with served peaks, and other values without", len(past))
	}
	equal := 0
	for _, p := range past {
		peak := got.Values[int(time.Unix(p.At, 0).Sub(got.Start)/got.Step)]
		if !(peak >= p.Forecast) || peak > 1000 {
			t.Errorf("%v was served at %d, but the peak is %v", p.Forecast, p.At, peak)
		}
		if peak == p.Forecast {
			equal++
		}
	}
	if equal == len(past) {
		t.Error("no peak is higher than the last value of its five minutes")
	}
	if n := peaks(without).Len(); n != 0 {
		t.Errorf("%d peaks are kept although no fleet needs them", n)
	}
}

func peaks(f *forecaster.Forecaster) forecast.Series { return described(f).ServedPeaks }

func described(f *forecaster.Forecaster) (e snapshot.ForecastSnapshot) {
	f.Describe(&e)
	return e
}
