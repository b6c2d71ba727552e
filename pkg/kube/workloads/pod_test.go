package workloads //nolint:testpackage // What is kept of a pod is nobody else's.

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forewarm/forewarm/hack/casetest"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// at is a time of the stories, in seconds.
func at(seconds int) metav1.Time {
	return metav1.NewTime(time.Date(2026, 11, 20, 12, 0, seconds, 0, time.UTC))
}

func TestWhatIsSeenOfAPod(t *testing.T) {
	for _, c := range casetest.Read[struct {
		Name string
		Pod  corev1.Pod
		Want leadtime.Pod
	}](t, "pods.yaml") {
		c.Pod.UID, c.Pod.CreationTimestamp = "u", at(0)
		c.Want.UID, c.Want.Created = "u", at(0).Time
		if diff := cmp.Diff(c.Want, readPod(&c.Pod)); diff != "" {
			t.Errorf("%s: %s", c.Name, diff)
		}
	}
}

func TestWhoseAPodIs(t *testing.T) {
	for _, c := range casetest.Read[struct {
		Name, Version, Kind string
		Owners              []metav1.OwnerReference
		Want                bool
	}](t, "owners.yaml") {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Labels: map[string]string{"pod-template-hash": "5d4f"}, OwnerReferences: c.Owners,
		}}
		workload := leadtime.Workload{APIVersion: c.Version, Kind: c.Kind, Name: "llama"}
		if got := isOwnedBy(workload, p); got != c.Want {
			t.Errorf("%s: %v", c.Name, got)
		}
	}
}

// A watch that breaks lists the pods again: those that are gone take no room, those that became ready meanwhile are found.
func TestAListAfterABreak(t *testing.T) {
	yes := true
	f := &follower{
		workload: leadtime.Workload{Namespace: "n", APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db"},
		firsts:   leadtime.PodTracker{},
	}
	named := func(uid string, ready bool) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			UID: types.UID(uid), CreationTimestamp: at(0),
			OwnerReferences: []metav1.OwnerReference{{Kind: "StatefulSet", Name: "db", Controller: &yes}},
		}}
		if ready {
			p.Status.Conditions = []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at(80)},
			}
		}
		return p
	}
	if got := f.problem(); got != Listing {
		t.Errorf("before the first list: %q", got)
	}
	replace := func(pods ...any) {
		t.Helper()
		if err := f.Replace(pods, "1"); err != nil {
			t.Fatal(err)
		}
	}
	replace(named("a", false), named("b", false), named("old", true))
	replace(named("a", true), named("old", true), named("new", true))
	if got := f.starts(); len(got) != 1 || !got[0].Ready.Equal(at(80).Time) {
		t.Errorf("starts %+v, want that of a", got)
	}
	if len(f.firsts) != 3 || f.problem() != "" {
		t.Errorf("%d pods are followed, want 3; %q", len(f.firsts), f.problem())
	}
	gone := &watchError{kind: transient, message: "cannot list", cause: io.EOF}
	f.recordError(t.Context(), gone)
	if got := f.problem(); got != Listing {
		t.Errorf("a watch that broke once says %q", got)
	}
	f.watch = &Watch{log: slog.New(slog.DiscardHandler), logged: map[string]bool{}}
	f.recordError(t.Context(), gone)
	if got := f.problem(); got != "cannot list" {
		t.Errorf("a list that failed after it says %q", got)
	}
	replace(named("a", true))
	if err := f.Delete(named("a", true)); err != nil || len(f.firsts) != 0 || len(f.starts()) != 1 {
		t.Errorf("%d pods are followed after all went, %d starts are known, %v", len(f.firsts), len(f.starts()), err)
	}
}
