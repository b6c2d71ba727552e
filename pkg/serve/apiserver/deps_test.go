package apiserver_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
)

func TestReadyMeansThatHistoryWasRead(t *testing.T) {
	ready, pending := snapshottest.Ready(snapshottest.Key("a")), snapshottest.Pending(snapshottest.Key("b"))
	partial := snapshottest.Ready(snapshottest.Key("p"))
	partial.Partial = true
	for _, c := range []struct {
		name   string
		at     *snapshot.Snapshot
		served bool
		want   string
	}{
		{"before the first snapshot", nil, false, "the first refresh is in progress"},
		{"half-way", snapshottest.Snapshot(ready, pending), false, "1 of 2 Forecasts have history"},
		{"all read", snapshottest.Snapshot(ready), true, "<nil>"},
		{"a broken Forecast holds up nothing", snapshottest.Snapshot(snapshottest.Invalid(snapshottest.Key("c"))), false, "<nil>"},
		{"no Forecasts at all", snapshottest.Snapshot(), false, "<nil>"},
		{"a part of a history, and no one else serves", snapshottest.Snapshot(ready, partial), false, "<nil>"},
		{
			"a part of a history while another replica serves", snapshottest.Snapshot(ready, partial), true,
			"1 of 2 Forecasts have their whole history; another adapter replica serves in the meantime",
		},
	} {
		snapshots := &snapshot.Store{}
		if c.at != nil {
			snapshots.Publish(c.at)
		}
		if got := fmt.Sprint(
			apiserver.HistoryCheck(snapshots, time.Now, func() bool { return c.served }).Run(),
		); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// One tenant's source that hangs must not take the values of all others away, neither at the start nor later.
func TestSlowHistoriesHoldUpNobodyForLong(t *testing.T) {
	ready, pending := snapshottest.Ready(snapshottest.Key("a")), snapshottest.Pending(snapshottest.Key("b"))
	partial := snapshottest.Ready(snapshottest.Key("p"))
	partial.Partial = true
	now := snapshottest.Now()
	clock := func() time.Time { return now }
	snapshots := &snapshot.Store{}
	snapshots.Publish(snapshottest.Snapshot(ready))
	another := func() bool { return true }
	served := apiserver.HistoryCheck(snapshots, clock, another)
	if err := served.Run(); err != nil {
		t.Fatal(err)
	}
	snapshots.Publish(snapshottest.Snapshot(ready, pending, partial))
	if err := served.Run(); err != nil {
		t.Errorf("a new Forecast: %v, want that the replica stays ready", err)
	}
	fresh := apiserver.HistoryCheck(snapshots, clock, another)
	for _, minute := range []int{0, 9} {
		now = snapshottest.Now().Add(time.Duration(minute) * time.Minute)
		if fresh.Run() == nil {
			t.Errorf("a new replica is ready after %d minutes", minute)
		}
	}
	now = snapshottest.Now().Add(10 * time.Minute)
	if err := fresh.Run(); err != nil {
		t.Errorf("after ten minutes: %v, want that the replica serves what it has", err)
	}
}

func TestMetricsComeFromTheBoard(t *testing.T) {
	snapshots := snapshottest.Store(snapshottest.EveryState()...)
	deps, err := apiserver.NewDeps(snapshots, nil, snapshottest.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	families, err := deps.Metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "forewarm_") {
			t.Errorf("%s is no metric of forewarm", family.GetName())
		}
	}
	if len(families) == 0 {
		t.Error("no metrics")
	}
}
