package pools_test

import (
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// defaulted is a pool as the controller hands it on.
func defaulted(object *v1alpha1.WarmPool) *v1alpha1.WarmPool {
	resolved, _ := manifest.ResolvePool(object) // What is wrong with it is not an actuator's to judge.
	return resolved.Object
}
