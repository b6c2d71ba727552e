package server_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/server"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
)

func TestReadyMeansThatHistoryWasRead(t *testing.T) {
	ready, pending := snapshottest.Ready(snapshottest.Key("a")), snapshottest.Pending(snapshottest.Key("b"))
	for _, c := range []struct {
		name string
		at   *snapshot.Snapshot
		want string
	}{
		{"before the first snapshot", nil, "the first refresh is under way"},
		{"half-way", snapshottest.Snapshot(ready, pending), "1 of 2 Forecasts have history"},
		{"all read", snapshottest.Snapshot(ready), "<nil>"},
		{"a broken Forecast holds up nothing", snapshottest.Snapshot(snapshottest.Invalid(snapshottest.Key("c"))), "<nil>"},
		{"no Forecasts at all", snapshottest.Snapshot(), "<nil>"},
	} {
		if got := fmt.Sprint(server.CheckHistory(c.at)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMetricsComeFromTheBoard(t *testing.T) {
	deps, err := server.NewDeps(snapshottest.Board(snapshottest.EveryState()...), slog.New(slog.DiscardHandler))
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
