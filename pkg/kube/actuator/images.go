package actuator

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// images finds out whether the cluster has image volumes (Kubernetes 1.35 has them by default): where it does not, its API
// server drops the field, and then refuses a volume that is of no kind.
type images struct {
	deployments *owned
	// known: the API server has been asked; there is what it said.
	known, there bool
}

// fit takes the image volumes from a Deployment where the cluster does not have them. It asks once in a process's life, by
// having such a Deployment applied without effect.
func (i *images) fit(ctx context.Context, pool *v1alpha1.WarmPool, d *appsv1.Deployment) error {
	if len(d.Spec.Template.Spec.Volumes) == 0 {
		return nil
	}
	if !i.known {
		object, _, err := i.deployments.encode(d)
		if err != nil {
			return err
		}
		try := force()
		try.DryRun = []string{metav1.DryRunAll}
		tried, err := i.deployments.in(pool.Namespace).Apply(ctx, d.Name, object, try)
		if err != nil && !apierrors.IsInvalid(err) {
			return i.deployments.fault("try", pool, err)
		}
		// What else is invalid shows when it is applied in earnest; this is asked again until it is not.
		i.known = err == nil || invalidField(err, "spec.template.spec.volumes[0]")
		if i.there = err == nil; i.there {
			kept, err := decode[appsv1.Deployment](tried.Object)
			i.there = err == nil && len(kept.Spec.Template.Spec.Volumes) > 0 &&
				kept.Spec.Template.Spec.Volumes[0].Image != nil
		}
	}
	if !i.there {
		d.Spec.Template.Spec.Volumes, d.Spec.Template.Spec.Containers[0].VolumeMounts = nil, nil
	}
	return nil
}
