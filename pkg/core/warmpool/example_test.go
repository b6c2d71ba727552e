package warmpool_test

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Three members have 16 replicas of 250 tokens/s each. What the pool holds for them depends on whether they rise
// together.
func ExampleMemory_Plan() {
	now := time.Date(2026, time.March, 4, 14, 0, 0, 0, time.UTC)
	pool := warmpool.Pool{
		Quantile: 0.95, Max: 30, GPUs: 8, Budget: 200, Split: true, Pod: 3 * time.Minute, Node: 5 * time.Minute,
	}
	for _, apart := range []int{0, 5} {
		var members []warmpool.Member
		for i, name := range []string{"gemma", "llama", "phi"} {
			members = append(members, warmpool.Member{
				Name: name, Chunks: 1, Target: 250, MaxReplicas: 48, Placed: 16,
				Outlook: warmpool.Outlook{
					Served:   3900,
					Observed: 3500,
					Windows: []windowpeak.Window{
						window(4*time.Minute+15*time.Second, 3900, 5100),
						window(time.Hour, 4200, 9400),
					},
					Recent: bursts(now, i*apart),
				},
			})
		}
		plan, _ := warmpool.Memory{}.Plan(now, pool, members, warmpool.Capacity{Held: 2, Ready: 2})
		fmt.Printf("%d: %d and %d, %s\n", plan.Want, plan.Base, plan.Tail, plan.State)
		fmt.Printf("%s.\n%s.\n\n", plan.Message, plan.Next)
	}
	// Output:
	// 24: 0 and 24, Filling
	// gemma, llama and phi need 72 chunks within 9m15s at the 0.95 quantile of their sum; 48 chunks are placed and 0 are waiting, so 24 more are needed within 9m15s, 15 of them within 4m15s; 0 of the first capacity type and 24 of the second.
	// 22 of 24 chunks are not ready yet; with 192 GPUs idle, the budget is spent at 15:02 UTC.
	//
	// 18: 7 and 11, Filling
	// gemma, llama and phi need 66 chunks within 9m15s at the 0.95 quantile of their sum (72 if all peaked together); 48 chunks are placed and 0 are waiting, so 18 more are needed within 9m15s, 11 of them within 4m15s; 7 of the first capacity type and 11 of the second.
	// 16 of 18 chunks are not ready yet; with 144 GPUs idle, the budget is spent at 15:23 UTC.
}

// window is a distribution with the given median and 0.95 quantile.
func window(horizon time.Duration, median, high float64) windowpeak.Window {
	w := windowpeak.Window{Horizon: horizon}
	for i, level := range windowpeak.QuantileLevels() {
		w.Quantiles[i] = median + (high-median)*max(0, level-0.5)/0.45
	}
	return w
}

// bursts is a day with twice the demand for a quarter of every hour, delayed by so many points of five minutes.
func bursts(now time.Time, later int) forecast.Series {
	out := forecast.Series{Start: now.Add(-24 * time.Hour), Step: 5 * time.Minute, Values: make([]float64, 288)}
	for i := range out.Values {
		out.Values[i] = 3500
		if (i+12-later%12)%12 < 3 {
			out.Values[i] = 7000
		}
	}
	return out
}

// A pool's memory is a few numbers, from which the next leader continues.
func ExampleRestoreMemory() {
	now := time.Date(2026, time.March, 4, 14, 0, 0, 0, time.UTC)
	pool := warmpool.Pool{Quantile: 0.95, Min: 2, Max: 20, GPUs: 8, Node: 5 * time.Minute}
	_, memory := warmpool.Memory{}.Plan(now, pool, nil, warmpool.Capacity{Held: 6, Ready: 5})
	fmt.Printf("%+v\n%+v\n", memory.Past(), memory.Wants())

	next, err := warmpool.RestoreMemory(memory.Past(), memory.Wants())
	fmt.Println(next == memory, err)
	// Output:
	// {At:1772632800000 Ready:5 Placed:0 Claimed:0 Idle:0 Unseen:0 Lost:0 Gained:0 Matching:0 Borrowed:0 Covers:false TurningSince:0 Unreliable:false}
	// [{At:1772632800000 Total:6 Base:2}]
	// true <nil>
}
