package workloads //nolint:testpackage // What is kept of a pod is internal.

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/forewarm/forewarm/hack/casetest"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/kube/informer"
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
		p := newPod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Labels: map[string]string{"pod-template-hash": "5d4f"}, OwnerReferences: c.Owners,
		}})
		workload := leadtime.Workload{APIVersion: c.Version, Kind: c.Kind, Name: "llama"}
		if got := p != nil && isOwnedBy(workload, p); got != c.Want {
			t.Errorf("%s: %v", c.Name, got)
		}
	}
}

func TestAPodWithTooManyLabelsIsNotKept(t *testing.T) {
	yes := true
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Labels: map[string]string{}, OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Controller: &yes}},
	}}
	for i := range 100 {
		p.Labels["example.com/"+strconv.Itoa(i)] = strings.Repeat("v", 63)
	}
	if newPod(p) == nil {
		t.Error("a pod with a hundred labels is not kept")
	}
	p.Labels[strings.Repeat("k", maxLabels)] = ""
	if newPod(p) != nil {
		t.Error("a pod with more is kept")
	}
}

// A watch that breaks lists the pods again: those that are gone take no room, those that became ready meanwhile are found.
func TestAListAfterABreak(t *testing.T) {
	yes := true
	pods := &namespace{followers: map[*follower]bool{}}
	pods.Watch = informer.New(nil, newPod, informer.Config[pod]{Changed: pods.observe, Listed: pods.listed})
	w := &Watch{config: Config{Recheck: time.Hour}, due: workqueue.NewTypedDelayingQueue[leadtime.Workload]()}
	t.Cleanup(w.due.ShutDown)
	db := leadtime.Workload{Namespace: "n", APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db"}
	f := newFollower(w, db, pods)
	pods.start = func() {}
	if got := f.problem(); got != Listing {
		t.Errorf("before the first list: %q", got)
	}
	f.recordScale(scale{selector: labels.SelectorFromSet(labels.Set{"app": "db"}), replicas: 2})
	named := func(uid string, ready bool) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: uid, UID: types.UID(uid), CreationTimestamp: at(0), Labels: map[string]string{"app": "db"},
			OwnerReferences: []metav1.OwnerReference{{Kind: "StatefulSet", Name: "db", Controller: &yes}},
		}}
		if ready {
			p.Status.Conditions = []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at(80)},
			}
		}
		return p
	}
	replace := func(found ...any) {
		t.Helper()
		if err := pods.Replace(found, "1"); err != nil {
			t.Fatal(err)
		}
	}
	replace(named("a", false), named("b", false), named("old", true))
	again := named("b", false) // Of the same name, as a StatefulSet's are.
	again.UID = "c"
	replace(named("a", true), named("old", true), again)
	if got := f.starts(); len(got) != 1 || !got[0].Ready.Equal(at(80).Time) {
		t.Errorf("starts %+v, want that of a", got)
	}
	if len(f.firsts) != 3 || f.problem() != "" {
		t.Errorf("%d pods are followed, want 3; %q", len(f.firsts), f.problem())
	}
	if r, known := f.countReplicas(); r != (Replicas{Wanted: 2, Living: 3, Ready: 2}) || !known {
		t.Errorf("%+v, known %v", r, known)
	}
	replace(named("a", true))
	if err := pods.Delete(named("a", true)); err != nil || len(f.firsts) != 0 || len(f.starts()) != 1 {
		t.Errorf("%d pods are followed after all went, %d starts are known, %v", len(f.firsts), len(f.starts()), err)
	}
}
