package compare

import (
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpasim"
)

// Planned is the lead time that those reckon with who look ahead.
func (l Lead) Planned() time.Duration { return l.planned() }

// Pods are the lead times that are played.
func (l Lead) Pods() hpasim.Lead { return l.pods() } //nolint:ireturn // What a workload.Spec holds.

// Judged is the verdict of a comparison.
func (c *Comparison) Judged() string { return c.verdict() }

// WarmVerdict is what is said of a pool first.
func (c *Comparison) WarmVerdict(w *Warm) string { return c.warmVerdict(w) }
