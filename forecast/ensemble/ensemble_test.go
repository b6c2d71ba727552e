package ensemble_test

import (
	"testing"

	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/forecast/modeltest"
)

func TestModel(t *testing.T) {
	modeltest.Test(t, ensemble.Auto{})
	modeltest.Test(t, ensemble.Auto{Seasons: []int{12}, Horizon: 24})
}
