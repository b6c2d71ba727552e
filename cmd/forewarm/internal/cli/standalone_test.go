package cli_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/fleet/fleettest"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/catalogue"
)

// startStandalone runs a server without a cluster, with Forecasts in every state, and returns its URL. The files of two of them cannot
// be read.
func startStandalone(t *testing.T) string {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	var files strings.Builder
	for _, e := range snapshottest.EveryState() {
		if e.Key.Name == "invalid" || e.Key.Name == "pending" {
			continue
		}
		fmt.Fprintf(
			&files,
			"{apiVersion: forewarm.dev/v1alpha1, kind: Forecast, metadata: {name: %s, namespace: %s},\n"+
				"  spec: {targetRef: {kind: Deployment, name: d}, signal: {query: sum(running)}}}\n---\n",
			e.Key.Name,
			e.Key.Namespace,
		)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "forecasts.yaml"), []byte(files.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	signals := catalogue.Signals{Label: "namespace", Trust: signal.DefaultTrust()}
	folder, err := manifest.OpenFolder(dir, manifest.NewResolver(signals), log)
	if err != nil {
		t.Fatal(err)
	}
	deps, err := apiserver.NewDeps(snapshottest.Store(snapshottest.EveryState()...), nil, snapshottest.Now, log)
	if err != nil {
		t.Fatal(err)
	}
	deps.Forecasts, deps.Fleets = folder, fleettest.Store()
	server, err := apiserver.NewStandalone(apiserver.StandaloneConfig{}, deps)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- server.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
	return server.URL()
}
