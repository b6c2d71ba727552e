package compare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// FollowResult is what a workload takes by its own forecast, and by following that of another one.
type FollowResult struct {
	Own, Follows simulate.Report
}

// Follow simulates a workload with a Config's autoscaler and lead time whose demand is given, on the grid of the Config's own demand, by its own
// forecast and by following the forecast of the Config's.
func Follow(ctx context.Context, c Config, follower forecast.Series) (*FollowResult, error) {
	leader, err := newPlainPlan(ctx, "follow", c)
	if err != nil {
		return nil, err
	}
	c.Demand = follower
	p, err := newPlainPlan(ctx, "follow", c)
	if err != nil {
		return nil, err
	}
	if leader.demand.Len() != p.demand.Len() {
		return nil, fmt.Errorf("follow: demands of %d and %d steps, want as many", leader.demand.Len(), p.demand.Len())
	}
	leads, errLeads := leader.playForecaster(&leader.Config, nil, p.Objective)
	own, errOwn := p.playForecaster(&p.Config, nil, p.Objective)
	observed, errObserved := p.values(simulate.NewObserved())
	if err = errors.Join(errLeads, errOwn, errObserved); err != nil {
		return nil, err
	}
	out := &FollowResult{}
	if out.Own, err = simulate.Run(
		p.config(&p.Config, p.capacityTarget()),
		simulate.NewTape(own.values[0]),
	); err != nil {
		return nil, err
	}
	values := followed(leader.demand, p.demand, leads.values[0], own.values[0], observed)
	out.Follows, err = simulate.Run(p.config(&p.Config, p.capacityTarget()), simulate.NewTape(values))
	return out, errors.Join(err, p.interrupted())
}

// pointOfDay is the step of the day that a ratio is learnt from.
const pointOfDay = 5 * time.Minute

// followed are the values of a workload that follows: as on the server, but for the bound.
func followed(leader, follower forecast.Series, leads, own, observed []float64) []float64 {
	within := int(pointOfDay / sync)
	of, to := forecast.Series{Step: pointOfDay}, forecast.Series{Step: pointOfDay}
	var ratio decide.Ratio
	known := false
	out := make([]float64, follower.Len())
	for i := range out {
		if i > 0 && i%within == 0 {
			to.Values = append(to.Values, meanOf(leader.Values[i-within:i]))
			of.Values = append(of.Values, meanOf(follower.Values[i-within:i]))
			if more := len(of.Values) - int(day/pointOfDay); more > 0 {
				of.Values, to.Values = of.Values[more:], to.Values[more:]
			}
			ratio, known = decide.LearnRatio(of, to)
		}
		if out[i] = own[i]; known {
			out[i] = math.Max(observed[i], leads[i]*ratio.High)
		}
	}
	return out
}

func meanOf(values []float64) (mean float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	return mean
}
