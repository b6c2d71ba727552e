package workloads_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/kube/workloads"
)

func TestCluster(t *testing.T) {
	c := apiservertest.Start(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *apiservertest.Cluster)
	}{
		{"WhateverScales", testKinds},
		{"ASelectorThatChanges", testSelector},
		{"RightsThatCome", testRights},
		{"ZeroReplicas", testZero},
		{"PlacesOfReplicas", testPlaces},
		{"ANamespaceTakesOnePlace", testBound},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, c) })
	}
}

// wanted are the workloads of a test; it may want others later.
type wanted struct {
	atomic.Pointer[[]leadtime.Workload]
}

func (w *wanted) list() []leadtime.Workload { return append([]leadtime.Workload{}, *w.Load()...) }

// follow runs a watch for as long as the test, in a hurry.
func follow(t *testing.T, access *rest.Config, all ...leadtime.Workload) (*workloads.Watch, *wanted) {
	t.Helper()
	return followAtMost(t, access, 0, all...)
}

// followAtMost is follow with a bound on the namespaces whose pods are watched.
func followAtMost(t *testing.T, access *rest.Config, most int, all ...leadtime.Workload) (*workloads.Watch, *wanted) {
	t.Helper()
	want := &wanted{}
	want.Store(&all)
	hurry := workloads.Config{Retry: 100 * time.Millisecond, Recheck: 100 * time.Millisecond, MaxNamespaces: most}
	watch, err := workloads.New(access, hurry, want.list, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	apiservertest.Background(t, func(ctx context.Context) error {
		watch.Run(ctx)
		return nil
	})
	return watch, want
}

// eventually waits until a check is empty, which says what is still missing.
func eventually(t *testing.T, check func() string) {
	t.Helper()
	apiservertest.Eventually(t, 20*time.Second, check)
}

// expect waits until the problem of a workload is the one that is wanted.
func expect(t *testing.T, watch *workloads.Watch, workload leadtime.Workload, want string) {
	t.Helper()
	eventually(t, func() string {
		if got := watch.Problem(workload); got != want {
			return fmt.Sprintf("%s: %q, want %q", workload.Ref(), got, want)
		}
		return ""
	})
}

// expectStarts waits until a number of starts has been seen of a workload, and for a while, that it stays so.
func expectStarts(t *testing.T, watch *workloads.Watch, workload leadtime.Workload, want int) {
	t.Helper()
	eventually(t, func() string {
		if got := len(watch.Starts(workload)); got != want {
			return fmt.Sprintf("%d starts of %s, want %d", got, workload.Ref(), want)
		}
		return ""
	})
	time.Sleep(200 * time.Millisecond)
	if got := len(watch.Starts(workload)); got != want {
		t.Errorf("%d starts of %s, want no more than %d", got, workload.Ref(), want)
	}
}

var (
	group = leadtime.Workload{
		Namespace:  "default",
		APIVersion: "leaderworkerset.x-k8s.io/v1",
		Kind:       "LeaderWorkerSet",
		Name:       "g",
	}
	database = leadtime.Workload{Namespace: "default", APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db"}
)

// createDatabase creates a StatefulSet for as long as the test.
func createDatabase(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t, "", "create", "-f", "pkg/kube/workloads/testdata/statefulset.yaml")
	t.Cleanup(func() { c.MustKubectl(t, "", "delete", "statefulset", "db") })
}

func createGroup(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t, "", "apply", "-f", "pkg/kube/workloads/testdata/leaderworkersets.yaml")
	c.MustKubectl(t, "", "wait", "--for=condition=Established", "crd/leaderworkersets.leaderworkerset.x-k8s.io")
	c.MustKubectl(t,
		`{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: g}, spec: {replicas: 1}}`,
		"create", "-f", "-")
	t.Cleanup(func() { c.MustKubectl(t, "", "delete", "leaderworkerset", "g") })
}

func selects(t *testing.T, c *apiservertest.Cluster, selector string) {
	t.Helper()
	c.MustKubectl(t, "", "patch", "leaderworkerset", "g", "--subresource=status", "--type=merge", "-p",
		`{"status": {"hpaPodSelector": "`+selector+`"}}`)
}

// testKinds follows workloads that come after the watch, one of a kind that the cluster learns only then.
func testKinds(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	k := c.Kubelet(t)
	watch, want := follow(t, c.Config, group, database, group)
	expect(t, watch, group, "the cluster has no kind LeaderWorkerSet in leaderworkerset.x-k8s.io/v1")
	expect(t, watch, database, "StatefulSet.apps/db does not exist, or has no scale subresource")
	createGroup(t, c)
	expect(t, watch, group, "the scale of LeaderWorkerSet.leaderworkerset.x-k8s.io/g selects no pods")
	selects(t, c, "set=g,worker=0")
	createDatabase(t, c)
	expect(t, watch, group, "")
	expect(t, watch, database, "")

	// A replica is a group, and is ready when its leader is.
	leader := k.Create("g-0", map[string]string{"set": "g", "worker": "0"}, "StatefulSet", "g")
	k.Ready(k.Create("g-0-1", map[string]string{"set": "g", "worker": "1"}, "StatefulSet", "g-0"), time.Minute)
	ready := k.Ready(leader, 5*time.Minute)
	k.Ready(k.Create("db-0", map[string]string{"app": "db"}, "StatefulSet", "db"), time.Minute)
	k.Ready(k.Create("db-copy-0", map[string]string{"app": "db"}, "StatefulSet", "db-copy"), time.Minute)
	expectStarts(t, watch, group, 1)
	expectStarts(t, watch, database, 1)
	if s := watch.Starts(group)[0]; s.Ready.Sub(s.Created) != 5*time.Minute || !s.Ready.Equal(ready) || s.Waited() ||
		s.Validate() != nil {
		t.Errorf("start %+v: %v", s, s.Validate())
	}

	none := []leadtime.Workload{database}
	want.Store(&none)
	watch.Changed()
	expect(t, watch, group, workloads.Listing)
	expectStarts(t, watch, group, 0)
	expectStarts(t, watch, database, 1)
}

func testSelector(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	k := c.Kubelet(t)
	createGroup(t, c)
	selects(t, c, "set=a")
	watch, _ := follow(t, c.Config, group)
	expect(t, watch, group, "")
	other := k.Create("b", map[string]string{"set": "b"}, "StatefulSet", "g")
	k.Ready(k.Create("a", map[string]string{"set": "a"}, "StatefulSet", "g"), time.Minute)
	expectStarts(t, watch, group, 1)
	selects(t, c, "set=b")
	attempts := 0
	eventually(t, func() string {
		attempts++
		k.Ready(k.Create(fmt.Sprintf("b-%d", attempts), map[string]string{"set": "b"}, "StatefulSet", "g"),
			time.Minute)
		if len(watch.Starts(group)) < 2 {
			return "the new selector is not watched"
		}
		return ""
	})
	// It was met when it was not ready yet, whichever selector was watched then.
	k.Ready(other, 2*time.Minute)
	eventually(t, func() string {
		for _, s := range watch.Starts(group) {
			if s.Ready.Sub(s.Created) == 2*time.Minute {
				return ""
			}
		}
		return "the pod that was there before the new selector is not measured"
	})
}

func testRights(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	createDatabase(t, c)
	watch, _ := follow(t, c.User(t, "newcomer"), database)
	expect(t, watch, database,
		"Forewarm is not allowed to read the scale of StatefulSet.apps/db: apply deploy/default, or upgrade the chart")
	grant := func(name, verbs, resources string) {
		t.Helper()
		c.MustKubectl(t, "", "create", "role", name, "--verb="+verbs, "--resource="+resources)
		c.MustKubectl(t, "", "create", "rolebinding", name, "--role="+name, "--user=newcomer")
		t.Cleanup(func() { c.MustKubectl(t, "", "delete", "role,rolebinding", name) })
	}
	grant("scales", "get", "statefulsets.apps/scale")
	expect(
		t,
		watch,
		database,
		"Forewarm is not allowed to list pods in default: apply deploy/default, or upgrade the chart",
	)
	grant("pods", "list,watch", "pods")
	expect(t, watch, database, "")
}

// testZero: a workload stands at zero where neither its scale nor a pod says otherwise.
func testZero(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	createDatabase(t, c)
	scale := func(replicas string) { c.MustKubectl(t, "", "scale", "statefulset", "db", "--replicas="+replicas) }
	k := c.Kubelet(t)
	watch, _ := follow(t, c.Config, database)
	stands := func(zero bool, words string) {
		t.Helper()
		eventually(t, func() string {
			if got, known := watch.ScaledToZero(database); !known || got != zero {
				return fmt.Sprintf("%s: at zero %v, known %v; want %v", words, got, known, zero)
			}
			return ""
		})
	}
	stands(false, "one replica is asked for, and its pod is not made")
	pod := k.Create("db-0", map[string]string{"app": "db"}, "StatefulSet", "db")
	scale("0")
	k.Create("another-0", map[string]string{"app": "db"}, "StatefulSet", "another")
	time.Sleep(300 * time.Millisecond)
	stands(false, "a pod still lives")
	k.Delete(pod)
	stands(true, "the last pod has gone")
	scale("1")
	pod = k.Create("db-0", map[string]string{"app": "db"}, "StatefulSet", "db")
	stands(false, "a pod has come")
	k.Delete(pod)
	time.Sleep(300 * time.Millisecond)
	stands(false, "the pod went, another is asked for")
}

// testPlaces: a replica waits until it has a node, and counts until it ends; a group counts by its leader.
func testPlaces(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	createDatabase(t, c)
	createGroup(t, c)
	selects(t, c, "set=g,worker=0")
	k := c.Kubelet(t)
	owned := func(name string) *corev1.Pod {
		return k.Create(name, map[string]string{"app": "db"}, "StatefulSet", "db")
	}
	before := owned("db-0")
	k.Ready(before, time.Minute)
	k.Bind(before, "n1")
	if _, known := (&workloads.Watch{}).Replicas(database); known {
		t.Error("places of a workload that is not followed")
	}
	watch, want := follow(t, c.Config, database, group)
	stand := func(words string, of leadtime.Workload, placed, waiting int) {
		t.Helper()
		eventually(t, func() string {
			if r, known := watch.Replicas(of); r.Placed != placed || r.Living-r.Placed != waiting || !known {
				return fmt.Sprintf("%s: %+v, known %v; want %d placed, %d that wait", words, r, known, placed, waiting)
			}
			return ""
		})
	}
	stand("one was there, of which the list tells", database, 1, 0)
	eventually(t, func() string {
		if r, _ := watch.Replicas(database); r != (workloads.Replicas{Wanted: 1, Living: 1, Placed: 1, Ready: 1}) {
			return fmt.Sprintf("%+v, want one that is ready", r)
		}
		return ""
	})
	one, two := owned("db-1"), owned("db-2")
	k.Create("another-0", map[string]string{"app": "db"}, "StatefulSet", "another")
	stand("two have come, and one of somebody else", database, 1, 2)
	hourAgo, later := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	if !watch.Starting(database, hourAgo, later) || watch.Starting(database, later, later) {
		t.Error("two that are not ready start, unless they are too old")
	}
	k.Bind(one, "n1")
	stand("one of them has a node", database, 2, 1)
	k.End(one)
	stand("it is told to end", database, 1, 1)
	if r, _ := watch.Replicas(database); r.Terminating != 1 {
		t.Errorf("%+v, want one that terminates", r)
	}
	uids := []string{string(before.UID), string(one.UID), string(two.UID)}
	slices.Sort(uids)
	if got := slices.Sorted(slices.Values(watch.Pods(database))); !slices.Equal(got, uids) {
		t.Errorf("the pods are %v, want %v", got, uids)
	}
	k.Delete(one)
	eventually(t, func() string {
		if r, _ := watch.Replicas(database); r.Terminating != 0 || len(watch.Pods(database)) != 2 {
			return fmt.Sprintf("it has ended: %+v, %v", r, watch.Pods(database))
		}
		return ""
	})
	k.Delete(two)
	stand("one that waited is deleted", database, 1, 0)
	if watch.Starting(database, hourAgo, later) || !watch.Starting(database, hourAgo, hourAgo) {
		t.Error("the one that is left has been ready for a minute")
	}
	k.Delete(before)
	stand("the last goes", database, 0, 0)

	leader := k.Create("g-0", map[string]string{"set": "g", "worker": "0"}, "StatefulSet", "g")
	k.Create("g-0-1", map[string]string{"set": "g", "worker": "1"}, "StatefulSet", "g-0")
	stand("a group waits", group, 0, 1)
	k.Bind(leader, "n2")
	stand("its leader has a node, its worker none", group, 1, 0)

	none := []leadtime.Workload{database}
	want.Store(&none)
	watch.Changed()
	eventually(t, func() string {
		if _, known := watch.Replicas(group); known {
			return "the group is not followed any more, and its places are known"
		}
		return ""
	})
}

// testBound wants workloads in one namespace too many: of the last one the pods are not watched. One before it takes no more of the
// places for having more workloads.
func testBound(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	createDatabase(t, c)
	const places = 2
	in := func(namespace, name string) leadtime.Workload {
		other := database
		other.Namespace, other.Name = namespace, name
		return other
	}
	second := in("b", "one")
	watch, _ := followAtMost(t, c.Config, places, in("a", "one"), in("a", "two"), in("a", "three"), second, database)
	expect(t, watch, database,
		"Forewarm does not watch the pods of this namespace, because it watches at most 2 namespaces")
	for _, zero := range []bool{false, true} {
		eventually(t, func() string {
			if got, known := watch.ScaledToZero(database); !known || got != zero {
				return fmt.Sprintf("at zero %v, known %v; want %v", got, known, zero)
			}
			return ""
		})
		c.MustKubectl(t, "", "scale", "statefulset", "db", "--replicas=0")
	}
	if got := watch.Problem(second); strings.Contains(got, "at most") {
		t.Errorf("the second namespace says %q", got)
	}
}
