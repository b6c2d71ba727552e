package warmpool

import (
	"math"

	"github.com/forewarm/forewarm/pkg/decide"
)

// demand is what the members ask of the pool.
type demand struct {
	pod, node int
}

// together is what the members want beyond what they have, by the sum of their quantiles.
func together(p Pool, members []Member) demand {
	var pod, node float64
	for _, m := range members {
		have := float64(m.Placed + m.Waiting)
		for _, w := range []struct {
			sum    *float64
			length int64
		}{{&pod, int64(Window(p.Pod))}, {&node, int64(Window(p.Pod + p.Node))}} {
			var q decide.Quantiles
			for _, window := range m.Outlook.Windows {
				q = window.Quantiles
				if int64(window.Horizon) >= w.length {
					break
				}
			}
			*w.sum += m.Chunks * max(0, math.Ceil(q.At(p.Quantile)/m.Target)-have)
		}
	}
	return demand{pod: int(math.Ceil(pod)), node: int(math.Ceil(node))}
}
