package writes_test

import (
	"context"
	"errors"
	"net/url"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forewarm/forewarm/pkg/kube/writes"
)

// answer is an error of the API server.
func answer(code int32, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Code: code, Reason: reason, Message: message}}
}

func TestWhatAnErrorAffects(t *testing.T) {
	forecasts := schema.GroupResource{Group: "forewarm.dev", Resource: "forecasts"}
	for name, c := range map[string]struct {
		err error
		all bool
	}{
		"too large for etcd":           {answer(500, "", "etcdserver: request is too large"), false},
		"too large for etcd's client":  {answer(500, "", "rpc error: code = ResourceExhausted desc = trying to send message larger than max"), false},
		"too large for the API server": {answer(413, metav1.StatusReasonRequestEntityTooLarge, "Request entity too large: limit is 3145728"), false},
		"a policy":                     {apierrors.NewForbidden(forecasts, "a", errors.New("ValidatingAdmissionPolicy 'p' denied request")), false},
		"no right":                     {apierrors.NewForbidden(forecasts, "a", errors.New(`User "x" cannot update resource`)), false},
		"another schema":               {apierrors.NewInvalid(schema.GroupKind{}, "a", nil), false},
		"changed meanwhile":            {apierrors.NewConflict(forecasts, "a", errors.New("changed")), false},
		"a webhook that fails":         {apierrors.NewInternalError(errors.New(`failed calling webhook "a.b.c": connection refused`)), false},
		"a webhook that says 401":      {answer(401, metav1.StatusReasonUnauthorized, `admission webhook "a.b.c" denied the request: no`), false},
		"a webhook that says 429":      {answer(429, metav1.StatusReasonTooManyRequests, `admission webhook "a.b.c" denied the request: wait`), false},
		"a webhook that says 503":      {answer(503, metav1.StatusReasonServiceUnavailable, `admission webhook "a.b.c" denied the request`), false},
		"a status that is no JSON":     {errors.New("convert: unsupported"), false},
		"no connection":                {&url.Error{Op: "Put", URL: "https://10.0.0.1", Err: errors.New("connection refused")}, true},
		"no answer":                    {context.DeadlineExceeded, true},
		"overload":                     {apierrors.NewTooManyRequests("wait", 1), true},
		"a shutdown":                   {apierrors.NewServiceUnavailable("stopping"), true},
		"a timeout of the API server":  {apierrors.NewTimeoutError("slow", 1), true},
		"a token that expired":         {apierrors.NewUnauthorized("expired"), true},
		"etcd without a leader":        {answer(500, "", "etcdserver: no leader"), true},
		"etcd without space":           {answer(500, "", "etcdserver: mvcc: database space exceeded"), true},
		"etcd that is not reached":     {answer(500, "", "rpc error: code = Unavailable desc = transport is closing"), true},
	} {
		if got := writes.Unavailable(c.err); got != c.all {
			t.Errorf("%s affects all: %v", name, got)
		}
	}
}
