package serve_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/serve"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/peers"
	"github.com/forewarm/forewarm/pkg/run"
)

func settings(t *testing.T, args ...string) map[string]string {
	t.Helper()
	options := serveParse(t, args...)
	return serve.StatementOf(&options, &snapshot.Store{}).Settings
}

// Each flag of these decides values. A new flag belongs here, or into the list of those that are left out.
func TestFlagsThatDecideValues(t *testing.T) {
	args := map[string]string{
		"demand-events": "true", "refit": "1h", "season": "12h", "config-dir": "d",
		"fleets": "true", "fleet-nodes": "true", "fleet-cluster-queues": "true",
		"prometheus-url": "http://a", "prometheus-header": "X-Scope-OrgID=a", "prometheus-lookback": "1m",
		"sources-file": "f", "scrape-config": "f", "retention": "30d", "retention-size": "2GB",
		"max-forecasts-per-namespace": "7", "max-points-per-namespace": "7", "tenant-label": "team",
		"cluster-query-namespaces": "a", "exporter-namespaces": "a", "cluster": "a=b", "scrape-interval": "1m",
	}
	options := serve.Defaults()
	var every []string
	for name, section := range options.Flags().FlagSets {
		if name == "Serving" || name == "KEDA" || name == "In a cluster" {
			continue
		}
		section.VisitAll(func(f *pflag.Flag) { every = append(every, f.Name) })
	}
	slices.Sort(every)
	decide := slices.Sorted(maps.Keys(args))
	left := []string{
		"data-dir", "prometheus-auth", "prometheus-ca-file", "prometheus-cert-file", "prometheus-key-file",
		"prometheus-token-file", "query-concurrency", "query-concurrency-per-namespace", "query-timeout",
		"sources-pod-identity",
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(slices.Concat(decide, left))), every); diff != "" {
		t.Errorf("flags that are neither compared nor left out: %s", diff)
	}
	usual := settings(t)
	if len(usual) != 0 {
		t.Errorf("without flags there are %v", usual)
	}
	for name, value := range args {
		got := settings(t, "--"+name+"="+value)
		if len(got) != 1 || got[name] == "" || strings.Contains(got[name], value+value) {
			t.Errorf("--%s=%s: %v", name, value, got)
		}
	}
}

func TestFlagsThatDecideNoValue(t *testing.T) {
	got := settings(
		t,
		"--log-level=debug",
		"--log-format=json",
		"--secure-port=7000",
		"--bind-address=127.0.0.1",
		"--keda-address=:9090",
		"--kubeconfig=k",
		"--lease-name=l",
		"--service=a/b",
		"--service-port=8443",
		"--query-timeout=20s",
		"--query-concurrency=8",
		"--query-concurrency-per-namespace=2",
		"--prometheus-token-file=t",
		"--prometheus-ca-file=c",
		"--data-dir=d",
		"--tracing-config-file=t",
		"--warm-pool-step=1s",
		"--season=24h",
	) // The last one is the default.
	if len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestTheSameSettingsInOtherWords(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one, same, other := write("one", "sources: []"), write("same", "sources: []"), write("other", "sources: [{}]")
	for _, c := range []struct {
		name        string
		left, right []string
		equal       bool
	}{
		{"another order", []string{"--exporter-namespaces=a,b"}, []string{"--exporter-namespaces=b", "--exporter-namespaces=a"}, true},
		{"another form of a duration", []string{"--season=48h"}, []string{"--season=2880m"}, true},
		{"another duration", []string{"--season=48h"}, []string{"--season=47h"}, false},
		{"another path to the same content", []string{"--sources-file=" + one}, []string{"--sources-file=" + same}, true},
		{"another content", []string{"--sources-file=" + one}, []string{"--sources-file=" + other}, false},
		{"another tenant", []string{"--prometheus-header=X-Scope-OrgID=a"}, []string{"--prometheus-header=X-Scope-OrgID=b"}, false},
	} {
		if left, right := settings(t, c.left...), settings(t, c.right...); maps.Equal(left, right) != c.equal {
			t.Errorf("%s: %v and %v", c.name, left, right)
		}
	}
}

func TestAStatementHasTheClocks(t *testing.T) {
	options := serveParse(t)
	options.Version = "v1.2.3 go1.25 plan9/mips"
	clocks := map[string]snapshot.ClockDifference{"a": {Min: 1, Max: 2}}
	store := &snapshot.Store{}
	store.Publish(snapshot.New(run.WallClock{}.Now(), nil, 0, snapshot.LoopStats{Clocks: clocks}))
	want := peers.Statement{Version: options.Version, Settings: map[string]string{}, Clocks: clocks}
	if diff := cmp.Diff(want, serve.StatementOf(&options, store)); diff != "" {
		t.Error(diff)
	}
}
