package autoscalers

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// fault is why the autoscalers of a kind cannot be read.
type fault struct {
	// passing: it may mend itself.
	passing bool
	// words are for a status. They leave out the cause, whose text may differ with every attempt.
	words string
	cause error
}

func (f *fault) Error() string { return f.words + ": " + f.cause.Error() }

func (f *fault) Unwrap() error { return f.cause }

// faultOf is the fault of a list or watch; nil where the cluster does not know the kind: then there are none.
func faultOf(kind string, err error) *fault {
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err):
		return &fault{words: kind + "s cannot be read: apply deploy/rbac", cause: err}
	}
	return &fault{passing: true, words: kind + "s cannot be read, trying again", cause: err}
}
