package forecasts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/informer"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// Limits bound the memory that the Forecasts of one namespace take. Zero means no limit.
type Limits struct {
	// Forecasts of a namespace.
	Forecasts int
	// Points are the samples of the histories of a namespace's Forecasts: 8 bytes of memory each.
	Points int
}

// DefaultLimits are five hundred Forecasts of two weeks of half minutes.
func DefaultLimits() Limits { return Limits{Forecasts: 500, Points: 25_000_000} }

// SetLimits sets the limits; default none. It must be called before Run.
func (o *Objects) SetLimits(limits Limits) { o.limits, o.bound.Limit = limits, limits.Forecasts }

// byPlace orders the objects of a namespace, of which only the first ones are kept. Objects whose status says that their current spec was
// accepted come first, then the oldest. The order is the same on all replicas, and the same as in limited.
func byPlace(a, b *stored) int {
	return cmp.Or(compareBool(isAccepted(b.Unstructured), isAccepted(a.Unstructured)), informer.CompareAge(a, b))
}

// isAccepted reports whether the status of an object says that its current generation is within the limits.
func isAccepted(object *unstructured.Unstructured) bool {
	observed, _, errObserved := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	state, _, errState := unstructured.NestedString(object.Object, "status", "state")
	return errObserved == nil && errState == nil && acceptedBy(observed, state, object.GetGeneration())
}

// acceptedBy reports whether a status (its observed generation and its state) says that a generation is within the limits.
func acceptedBy(observed int64, state string, generation int64) bool {
	return observed == generation && state != "" && state != string(snapshot.Invalid)
}

// share is the part of its limits that a namespace uses.
type share struct{ forecasts, points int }

// limited returns the jobs. Those that exceed a limit of their namespace are invalid. An object that was accepted with its current spec
// stays valid, even if a new limit is lower. After the accepted objects, the oldest come first.
func (l Limits) limited(resolved []*resolution) []refresh.Job {
	slices.SortFunc(resolved, func(a, b *resolution) int {
		return cmp.Or(compareBool(b.accepted, a.accepted), a.created.Compare(b.created),
			strings.Compare(a.target.Key.String(), b.target.Key.String()))
	})
	used := map[string]share{}
	out := make([]refresh.Job, 0, len(resolved))
	for _, r := range resolved {
		t, own := r.target, used[r.target.Key.Namespace]
		if t.Invalid == "" {
			after := share{own.forecasts + 1, own.points + int(t.History/t.Step)}
			if problem := l.problem(after); problem != "" && !r.accepted {
				t = refresh.Job{
					Key: t.Key, Generation: t.Generation, Workload: t.Workload, Alias: t.Alias, Invalid: problem,
				}
			} else {
				used[t.Key.Namespace] = after
			}
		}
		out = append(out, t)
	}
	return out
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// problem says which limit is exceeded; empty if none is.
func (l Limits) problem(s share) string {
	switch {
	case l.Forecasts > 0 && s.forecasts > l.Forecasts:
		return fmt.Sprintf(
			"the namespace already has the maximum of %d Forecasts: delete one, or ask the operator of Forewarm for a "+
				"higher --max-forecasts-per-namespace",
			l.Forecasts,
		)
	case l.Points > 0 && s.points > l.Points:
		return fmt.Sprintf(
			"the histories of all Forecasts of the namespace have more than %d points in total: set a longer "+
				"step or a shorter history, or ask the operator of Forewarm for a higher --max-points-per-namespace",
			l.Points,
		)
	}
	return ""
}
