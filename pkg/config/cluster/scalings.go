package cluster

import (
	"github.com/forewarm/forewarm/pkg/decide"
	"github.com/forewarm/forewarm/pkg/snapshot"
)

// Scalings are the autoscalers by which a Forecast's value becomes replicas; none where it has none that counts, or is not
// there. Read only.
func (o *Objects) Scalings(key snapshot.Key) []decide.Scaling {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r := o.resolved[key]; r != nil {
		return r.target.Scalings
	}
	return nil
}
