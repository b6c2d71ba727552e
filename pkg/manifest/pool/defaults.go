package pool

import (
	"cmp"
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// The defaults of a pool.
const (
	DefaultQuantile      = "0.975"
	DefaultMode          = v1alpha1.PoolRecommend
	DefaultPriorityClass = "forewarm-placeholder"
	DefaultImage         = "registry.k8s.io/pause:3.10"
)

// The limits of a pool.
const (
	// MaxMembers bounds the Forecasts of a pool, MaxChunks what it holds.
	MaxMembers = 64
	MaxChunks  = 10_000
	// MaxPrePullImages bounds the images that placeholder pods pull.
	MaxPrePullImages = 8
	// maxImage and maxName bound an image and the name of a strategy, in bytes, as the schema does.
	maxImage = 1024
	maxName  = 253
	// minPart and maxPart bound the chunks of a replica, and the GPUs of a chunk.
	minPart = 0.001
	maxPart = 1000
	// maxBudget bounds a budget, in GPU-hours per day.
	maxBudget = 1e9
	// minLead is the shortest lead time of a node.
	minLead = time.Second
)

// withDefaults returns a copy of a pool with its defaults. Contradictions stay, for Resolve to find.
func withDefaults(object *v1alpha1.WarmPool) *v1alpha1.WarmPool {
	pool := object.DeepCopy()
	s := &pool.Spec
	s.Quantile = cmp.Or(s.Quantile, DefaultQuantile)
	s.Mode = cmp.Or(s.Mode, DefaultMode)
	if s.Min == nil {
		s.Min = new(int32(0))
	}
	if s.Fallback == nil {
		s.Fallback = new(*s.Min)
	}
	if s.LeadTime == nil {
		s.LeadTime = &v1alpha1.LeadTime{}
	}
	s.LeadTime.Mode = cmp.Or(s.LeadTime.Mode, v1alpha1.LeadTimeAuto)
	if s.LeadTime.Mode == v1alpha1.LeadTimeAuto {
		s.LeadTime.Fallback = cmp.Or(s.LeadTime.Fallback, manifest.DefaultFallback)
	}
	if s.Actuator == nil {
		s.Actuator = &v1alpha1.Actuator{PlaceholderPods: &v1alpha1.PlaceholderPods{}}
	}
	if b := s.Actuator.PlaceholderPods; b != nil {
		b.PriorityClassName = cmp.Or(b.PriorityClassName, DefaultPriorityClass)
		b.Image = cmp.Or(b.Image, DefaultImage)
	}
	if scale := s.Actuator.Scale; scale != nil {
		scale.TargetRef.APIVersion = cmp.Or(scale.TargetRef.APIVersion, manifest.DefaultAPIVersion)
	}
	return pool
}
