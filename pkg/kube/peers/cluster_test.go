package peers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
	"github.com/forewarm/forewarm/pkg/kube/peers"
)

// replica is one that exchanges Statements by a clock of its own.
type replica struct {
	*peers.Watch

	name      string
	clock     time.Duration // how far it is ahead
	statement peers.Statement
}

// fleet is several replicas with the rights of Forewarm's own account, and the time.
type fleet struct {
	t       *testing.T
	cluster *apiservertest.Cluster
	config  *rest.Config
	now     time.Time
	all     []*replica
}

const (
	system     = "forewarm-system"
	lease      = "forewarm"
	emptyLease = "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: forewarm, namespace: forewarm-system}\n"
)

// add starts a replica. Its clocks follow from its own.
func (f *fleet) add(name, version string, clock time.Duration) *replica {
	f.t.Helper()
	r := &replica{name: name, clock: clock, statement: statement(version, nil, clocks{"": ahead(-clock)})}
	config := forecasts.LeaseConfig{Namespace: system, Name: lease, Identity: name}
	watch, err := peers.New(
		f.config,
		config,
		func() peers.Statement { return r.statement },
		slog.New(slog.DiscardHandler),
	)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Watch = watch
	f.all = append(f.all, r)
	return r
}

// pass lets time pass, in which all replicas exchange Statements in turn.
func (f *fleet) pass(d time.Duration) {
	f.t.Helper()
	for end := f.now.Add(d); f.now.Before(end); {
		f.now = f.now.Add(15 * time.Second)
		for _, r := range f.all {
			if err := r.Step(f.t.Context(), f.now.Add(r.clock)); err != nil {
				f.t.Fatalf("%s: %s", r.name, err)
			}
		}
	}
}

// says checks the condition and the metric of all replicas: each may lead.
func (f *fleet) says(when, reason, differs string) {
	f.t.Helper()
	for _, r := range f.all {
		said := ""
		for _, c := range r.Conditions() {
			if said += c.Reason; c.Type != snapshot.ConditionReplicas || c.True || c.Message == "" {
				f.t.Errorf("%s: %s says %+v", when, r.name, c)
			}
		}
		if said != reason {
			f.t.Errorf("%s: %s says %q, want %q", when, r.name, said, reason)
		}
		var want strings.Builder
		want.WriteString(
			"# HELP forewarm_replicas_differ 1 if replicas of Forewarm differ in something that affects the served values, " +
				"otherwise 0. The label reason contains the reasons of the condition ReplicasAgree.\n" +
				"# TYPE forewarm_replicas_differ gauge\n",
		)
		for _, reason := range []string{"ClocksDiffer", "SettingsDiffer", "VersionsDiffer"} {
			value := "0"
			if reason == differs {
				value = "1"
			}
			fmt.Fprintf(&want, "forewarm_replicas_differ{reason=%q} %s\n", reason, value)
		}
		if err := testutil.CollectAndCompare(r, strings.NewReader(want.String())); err != nil {
			f.t.Errorf("%s: %s: %s", when, r.name, err)
		}
	}
}

// published are the names in the Lease.
func (f *fleet) published() []string {
	f.t.Helper()
	client, err := kubernetes.NewForConfig(f.cluster.Config)
	if err != nil {
		f.t.Fatal(err)
	}
	stored, err := client.CoordinationV1().Leases(system).Get(f.t.Context(), lease, metav1.GetOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(peers.Read(stored)))
}

// TestCluster lets replicas compare themselves by a real kube-apiserver, with the rights of the manifests alone.
func TestCluster(t *testing.T) {
	c := apiservertest.Start(t)
	c.MustKubectl(t, "", "apply", "--server-side", "-k", "deploy/default")
	config := rest.CopyConfig(c.Config)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + system + ":forewarm",
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + system, "system:authenticated"},
	}
	for _, test := range []struct {
		name string
		run  func(*testing.T, *fleet)
	}{
		{"EqualReplicas", testEqual},
		{"AWrongClock", testClock},
		{"SettingsAndVersions", testSettings},
		{"ARollout", testRollout},
		{"OneIsGone", testGone},
		{"TheLeaseIsGone", testNoLease},
		{"Nonsense", testNonsense},
		{"ALeaderKeepsItsLease", testLeader},
	} {
		t.Run(test.name, func(t *testing.T) {
			c.MustKubectl(t, emptyLease, "create", "-f", "-")
			t.Cleanup(func() {
				if out, err := c.Kubectl(t, "", "delete", "lease", lease, "-n", system); err != nil {
					t.Error(out)
				}
			})
			test.run(t, &fleet{t: t, cluster: c, config: config, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)})
		})
	}
}

func testEqual(t *testing.T, f *fleet) {
	t.Helper()
	f.add("a", "v1", 0)
	f.pass(15 * time.Second)
	f.says("alone", "", "")
	f.add("b", "v1", 3*time.Second)
	f.pass(20 * time.Minute)
	f.says("two that are equal", "", "")
	if got := f.published(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("published are %v", got)
	}
}

// testClock: a clock that is off by two minutes is said within two exchanges, and no more once it is set.
func testClock(t *testing.T, f *fleet) {
	t.Helper()
	for _, off := range []time.Duration{2 * time.Minute, -2 * time.Minute} {
		f.all = nil
		f.add("a", "v1", 0)
		b := f.add("b", "v1", off)
		f.pass(30 * time.Second)
		f.says("a clock that is "+off.String()+" ahead", "ClocksDiffer", "ClocksDiffer")
		f.pass(30 * time.Minute)
		f.says("it stays", "ClocksDiffer", "ClocksDiffer")
		b.clock, b.statement.Clocks = 0, clocks{"": ahead(0)} // NTP set it, and the source's clock was read again.
		f.pass(time.Minute)
		f.says("the clock is set", "", "")
		f.pass(time.Minute)
		if got := f.published(); len(got) != 2 {
			t.Errorf("after the clock was set, published are %v", got)
		}
	}
}

func testSettings(t *testing.T, f *fleet) {
	t.Helper()
	f.add("a", "v1", 0)
	b := f.add("b", "v1", 0)
	b.statement.Settings = map[string]string{"season": peers.Hash("48h")}
	f.pass(30 * time.Second)
	f.says("another season, at first", "", "SettingsDiffer")
	f.pass(10 * time.Minute)
	f.says("another season, after ten minutes", "SettingsDiffer", "SettingsDiffer")
	b.statement.Settings = nil
	f.pass(30 * time.Second)
	f.says("the same season", "", "")
	b.statement.Version = "v2"
	f.pass(30 * time.Second)
	f.says("another version, at first", "", "VersionsDiffer")
	f.pass(10 * time.Minute)
	f.says("another version, after ten minutes", "VersionsDiffer", "VersionsDiffer")
}

// testRollout: two replicas are replaced one after the other within six minutes. The condition is silent.
func testRollout(t *testing.T, f *fleet) {
	t.Helper()
	f.add("a1", "v1", 0)
	f.add("b1", "v1", 0)
	f.pass(time.Minute)
	f.add("a2", "v2", 0)
	f.pass(3 * time.Minute)
	f.says("a new replica", "", "VersionsDiffer")
	f.all = f.all[1:]
	f.add("b2", "v2", 0)
	f.pass(3 * time.Minute)
	f.says("two new replicas", "", "VersionsDiffer")
	f.all = f.all[1:]
	f.pass(time.Minute)
	f.says("the rollout is over", "", "")
}

// testGone: a replica that ends is left out within a minute, whichever replicas remain.
func testGone(t *testing.T, f *fleet) {
	t.Helper()
	f.add("a", "v1", 0)
	f.add("b", "v1", 0)
	f.add("c", "v1", 2*time.Minute)
	f.pass(2 * time.Minute)
	f.says("a wrong clock", "ClocksDiffer", "ClocksDiffer")
	f.all = f.all[:2]
	f.pass(time.Minute)
	f.says("it is gone", "", "")
	if got := f.published(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("published are %v", got)
	}
	f.all = nil
	f.add("late", "v1", 0)
	f.pass(time.Minute)
	if got := f.published(); !slices.Equal(got, []string{"late"}) {
		t.Errorf("a minute later published are %v", got)
	}
}

// testNoLease: before a replica has led there is no Lease. That is no error, and nothing is compared.
func testNoLease(t *testing.T, f *fleet) {
	t.Helper()
	f.cluster.MustKubectl(t, "", "delete", "lease", lease, "-n", system)
	a := f.add("a", "v1", 0)
	f.pass(15 * time.Second)
	if n := testutil.CollectAndCount(a); n != 0 || len(a.Conditions()) != 0 {
		t.Errorf("%d metrics and %v without a comparison", n, a.Conditions())
	}
	f.cluster.MustKubectl(t, emptyLease, "create", "-f", "-")
	f.pass(15 * time.Second)
	f.says("the Lease is there", "", "")
}

// testNonsense: what others wrote into the annotation is dropped or, if it is a Statement, compared for a minute.
func testNonsense(t *testing.T, f *fleet) {
	t.Helper()
	f.add("a", "v1", 0)
	f.add("b", "v1", 0)
	made, err := json.Marshal(
		map[string]any{"a": 7, "made\nup": statement("v1", nil, nil), "made": statement("v9", nil, nil)},
	)
	if err != nil {
		t.Fatal(err)
	}
	f.cluster.MustKubectl(t, "", "annotate", "lease", lease, "-n", system, peers.Annotation+"="+string(made))
	f.pass(30 * time.Second)
	f.says("a made replica", "", "VersionsDiffer")
	f.pass(time.Minute)
	f.says("it publishes nothing more", "", "")
	if got := f.published(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("published are %v", got)
	}
}

// testLeader: a leader keeps its lease while replicas write to it, and does not take away what they wrote.
func testLeader(t *testing.T, f *fleet) {
	t.Helper()
	leadership, err := forecasts.NewLeadership(f.config, forecasts.LeaseConfig{
		Namespace: system, Name: lease, Identity: "a", Duration: 3 * time.Second,
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	terms, over := make(chan context.Context, 10), make(chan error, 1)
	go func() {
		over <- leadership.Run(ctx, func(term context.Context) {
			terms <- term
			<-term.Done()
		})
	}()
	term := <-terms
	f.add("a", "v1", 0)
	f.add("b", "v1", 0)
	// Both replicas write once between two renewals, six times as often as by their interval. Ten times as many writes let four renewals
	// in a row conflict at times, which ends a term.
	for range 30 {
		f.pass(15 * time.Second)
		time.Sleep(500 * time.Millisecond)
	}
	if term.Err() != nil {
		t.Error("the leader lost its lease")
	}
	if got := f.published(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("published are %v", got)
	}
	stop()
	if err := <-over; err != nil {
		t.Error(err)
	}
}
