package actuator

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// reasonForbidden is that of a Problem with forewarm's own rights.
const reasonForbidden = "Forbidden"

// fault is what an error of the API server means: a Problem where asking again does not help, else the error, for a retry.
func (o *owned) fault(doing string, pool *v1alpha1.WarmPool, err error) error {
	what := fmt.Sprintf("%s the %ss of the pool %s/%s", doing, o.kind, pool.Namespace, pool.Name)
	switch {
	case apierrors.IsForbidden(err) && quota(err.Error()):
		return problem("QuotaExceeded", "cannot %s: %s; raise the quota or lower spec.max", what, plain(err))
	case apierrors.IsForbidden(err):
		const advice = "cannot %s: %s; apply deploy/warm-pools, or ask who refuses it"
		return problem(reasonForbidden, advice, what, plain(err))
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return problem("Refused", "cannot %s: %s; mend spec.chunk.podTemplate", what, plain(err))
	}
	return fmt.Errorf("%s: %w", what, err)
}

// quota says whether it is a quota that refuses.
func quota(words string) bool { return strings.Contains(words, "exceeded quota") }

// plain is an error on one line, short enough for a condition.
func plain(err error) string { return brief(err.Error()) }

// brief is a text on one line, short enough for a condition.
func brief(text string) string {
	const most = 400
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + " …"
	}
	return text
}

// invalidField says whether a refusal names a field.
func invalidField(err error, field string) bool {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	named := func(c metav1.StatusCause) bool { return c.Field == field }
	return slices.ContainsFunc(status.Status().Details.Causes, named)
}

// podsFault is why placeholders cannot be listed.
func podsFault(pool *v1alpha1.WarmPool, err error) error {
	if apierrors.IsForbidden(err) {
		return problem(reasonForbidden, "cannot list pods in %s: apply deploy/rbac", pool.Namespace)
	}
	return fmt.Errorf("list the placeholders of the pool %s/%s: %w", pool.Namespace, pool.Name, err)
}
