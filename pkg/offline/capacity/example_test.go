package capacity_test

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/capacity"
)

// Five days of a service of four replicas, whose queue grows above 40 requests each.
func Example() {
	h := capacity.History{Step: time.Minute}
	for i := range 5 * 24 * 60 {
		load := triangle(i, 24*60, 50)
		h.Demand, h.Ready = append(h.Demand, 4*load), append(h.Ready, 4)
		h.Saturated = append(h.Saturated, 4*max(load-40, 0))
	}
	e, err := capacity.FromHistory(h)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Sentences("requests"))
	// Output: A replica sustains about 40.3 requests (38.7 to 42). The service reached its limit 5 times in 5 days.
}
