package sim

import (
	"math/rand/v2"
	"time"
)

// Draw draws a lead time.
func Draw(lead LeadTime, random *rand.Rand) time.Duration { return lead.draw(random) }

// Longest is the longest that Draw returns.
func Longest(lead LeadTime) time.Duration { return lead.longest() }
