package workloads

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/forewarm/forewarm/pkg/leadtime"
)

const answer = "answer"

// fault is why a workload cannot be followed.
type fault struct {
	// kind tells faults apart that are logged apart; empty where only the author of the Forecast can mend it, answer where
	// it may pass.
	kind string
	// words are for a status. They leave out the cause, whose text may differ with every attempt.
	words string
	cause error
}

func (f *fault) Error() string { return f.words + ": " + f.cause.Error() }

func (f *fault) Unwrap() error { return f.cause }

// errSelector: a scale that does not select.
var errSelector = errors.New("no selector")

// scaleFault says why the scale of a workload could not be read.
func scaleFault(w leadtime.Workload, err error) *fault {
	switch {
	case meta.IsNoMatchError(err):
		return &fault{words: fmt.Sprintf("the cluster knows no kind %s of %s", w.Kind, w.APIVersion), cause: err}
	case apierrors.IsNotFound(err):
		return &fault{words: w.Ref() + " is not there, or cannot be scaled", cause: err}
	case apierrors.IsForbidden(err):
		return &fault{
			kind: "scale", words: fmt.Sprintf("cannot read the scale of %s: apply deploy/rbac", w.Ref()), cause: err,
		}
	case errors.Is(err, errSelector):
		return &fault{words: fmt.Sprintf("the scale of %s selects no pods", w.Ref()), cause: err}
	}
	return &fault{kind: answer, words: fmt.Sprintf("cannot read the scale of %s, trying again", w.Ref()), cause: err}
}

// podsFault says why pods could not be listed or watched.
func podsFault(w leadtime.Workload, err error) *fault {
	if apierrors.IsForbidden(err) {
		return &fault{
			kind: "pods", words: fmt.Sprintf("cannot list pods in %s: apply deploy/rbac", w.Namespace), cause: err,
		}
	}
	return &fault{kind: answer, words: fmt.Sprintf("cannot list pods in %s, trying again", w.Namespace), cause: err}
}
