package manifest

import (
	"cmp"
	"time"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// The defaults of a pool.
const (
	defaultPoolQuantile     = "0.975"
	defaultPoolMode         = v1alpha1.PoolRecommend
	defaultPriorityClass    = "forewarm-placeholder"
	defaultPlaceholderImage = "registry.k8s.io/pause:3.10"
)

// The limits of a pool.
const (
	// MaxPoolMembers bounds the Forecasts of a pool, MaxPoolChunks what it holds.
	MaxPoolMembers = 64
	MaxPoolChunks  = 10_000
	// maxPrePullImages bounds the images that placeholder pods pull.
	maxPrePullImages = 8
	// maxImage and maxName bound an image and the name of a strategy, in bytes, as the schema does.
	maxImage = 1024
	maxName  = 253
	// minPart and maxPart bound the chunks of a replica, and the GPUs of a chunk.
	minPart = 0.001
	maxPart = 1000
	// maxBudget bounds a budget, in GPU-hours per day.
	maxBudget = 1e9
	// minNodeLead is the shortest lead time of a node.
	minNodeLead = time.Second
)

// poolWithDefaults returns a copy of a pool with its defaults. Contradictions stay, for ResolvePool to find.
func poolWithDefaults(object *v1alpha1.WarmPool) *v1alpha1.WarmPool {
	pool := object.DeepCopy()
	s := &pool.Spec
	s.Quantile = cmp.Or(s.Quantile, defaultPoolQuantile)
	s.Mode = cmp.Or(s.Mode, defaultPoolMode)
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
		s.LeadTime.Fallback = cmp.Or(s.LeadTime.Fallback, DefaultFallback)
	}
	if s.Actuator == nil {
		s.Actuator = &v1alpha1.Actuator{PlaceholderPods: &v1alpha1.PlaceholderPods{}}
	}
	if b := s.Actuator.PlaceholderPods; b != nil {
		b.PriorityClassName = cmp.Or(b.PriorityClassName, defaultPriorityClass)
		b.Image = cmp.Or(b.Image, defaultPlaceholderImage)
	}
	if scale := s.Actuator.Scale; scale != nil {
		scale.TargetRef.APIVersion = cmp.Or(scale.TargetRef.APIVersion, DefaultAPIVersion)
	}
	return pool
}
