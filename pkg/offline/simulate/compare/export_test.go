package compare

import (
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// Planned is the lead time that those reckon with who look ahead.
func (l LeadTime) Planned() time.Duration { return l.planned() }

// Pods are the lead times that are played.
func (l LeadTime) Pods() sim.LeadTime { return l.pods() } //nolint:ireturn // What a sim.Spec holds.

// MakeVerdict is the verdict of a comparison.
func (c *Comparison) MakeVerdict() string { return c.verdict() }

// PoolVerdict is what is said of a pool first.
func (c *Comparison) PoolVerdict(w *PoolResult) string { return c.poolVerdict(w) }

// Starts are the lead times of Forewarm's simulated autoscalers.
func (c *Config) Starts() sim.LeadTime { return c.starts() } //nolint:ireturn // What a sim.Spec holds.
