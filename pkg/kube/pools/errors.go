package pools

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// classifyError returns a Problem where a retry does not help, else the error.
func (o *owned) classifyError(doing string, pool *v1alpha1.WarmPool, err error) error {
	what := fmt.Sprintf("%s the %ss of the pool %s/%s", doing, o.kind, pool.Namespace, pool.Name)
	switch {
	case apierrors.IsForbidden(err) && isQuotaError(err.Error()):
		return problem(v1alpha1.PoolReasonQuotaExceeded, "cannot %s: %s: raise the quota or lower spec.max", what,
			errorLine(err))
	case apierrors.IsForbidden(err):
		const advice = "cannot %s: %s: apply deploy/warm-pools, set warmPools.enforce in the chart, or check the admission webhooks"
		return problem(v1alpha1.PoolReasonForbidden, advice, what, errorLine(err))
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return problem(v1alpha1.PoolReasonRejected, "cannot %s: %s: correct spec.chunk.podTemplate", what,
			errorLine(err))
	}
	return fmt.Errorf("%s: %w", what, err)
}

// isQuotaError reports whether a quota rejected a request.
func isQuotaError(words string) bool { return strings.Contains(words, "exceeded quota") }

// errorLine returns an error on one line, short enough for a condition.
func errorLine(err error) string { return clipLine(err.Error()) }

// clipLine returns a text on one line, short enough for a condition.
func clipLine(text string) string {
	const most = 400
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + " …"
	}
	return text
}

// invalidField reports whether a rejection names a field.
func invalidField(err error, field string) bool {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	named := func(c metav1.StatusCause) bool { return c.Field == field }
	return slices.ContainsFunc(status.Status().Details.Causes, named)
}

// listPodsError returns why placeholder pods cannot be listed.
func listPodsError(pool *v1alpha1.WarmPool, err error) error {
	if apierrors.IsForbidden(err) {
		return problem(v1alpha1.PoolReasonForbidden,
			"cannot list pods in %s: apply deploy/default, or upgrade the chart", pool.Namespace)
	}
	return fmt.Errorf("list the placeholders of the pool %s/%s: %w", pool.Namespace, pool.Name, err)
}
