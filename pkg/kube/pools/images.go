package pools

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// images finds out whether the cluster has image volumes (on by default in Kubernetes 1.35). Other API servers drop
// the field, and then reject a volume without a source.
type images struct {
	deployments *owned
	// known: the API server was asked; supported is its answer.
	known, supported bool
}

// dropUnsupported removes the image volumes from a Deployment where the cluster does not have them. It finds out once
// per process, by a dry run.
func (i *images) dropUnsupported(ctx context.Context, pool *v1alpha1.WarmPool, d *appsv1.Deployment) error {
	if len(d.Spec.Template.Spec.Volumes) == 0 {
		return nil
	}
	if !i.known {
		object, _, err := i.deployments.encode(d)
		if err != nil {
			return err
		}
		try := forceApply()
		try.DryRun = []string{metav1.DryRunAll}
		tried, err := i.deployments.in(pool.Namespace).Apply(ctx, d.Name, object, try)
		if err != nil && !apierrors.IsInvalid(err) {
			return i.deployments.classifyError("try", pool, err)
		}
		// Other errors are reported when the Deployment is applied; this is tried again until there are none.
		i.known = err == nil || invalidField(err, "spec.template.spec.volumes[0]")
		if i.supported = err == nil; i.supported {
			kept, err := decode[appsv1.Deployment](tried.Object)
			i.supported = err == nil && len(kept.Spec.Template.Spec.Volumes) > 0 &&
				kept.Spec.Template.Spec.Volumes[0].Image != nil
		}
	}
	if !i.supported {
		d.Spec.Template.Spec.Volumes, d.Spec.Template.Spec.Containers[0].VolumeMounts = nil, nil
	}
	return nil
}
