package autoregress_test

import (
	"testing"

	"github.com/forewarm/forewarm/forecast/autoregress"
	"github.com/forewarm/forewarm/forecast/modeltest"
)

func TestModel(t *testing.T) {
	modeltest.Test(t, autoregress.Ridge{Lags: autoregress.SeasonalLags(12)})
	modeltest.Test(t, autoregress.Ridge{Lags: autoregress.SeasonalLags(12), Profile: 7, HalfLife: 20})
}
