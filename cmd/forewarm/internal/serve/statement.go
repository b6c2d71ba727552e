package serve

import (
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/peers"
)

// statement returns what this adapter replica reports about itself to the others. The platform affects only the last digits of a value, so
// it is not part of the version.
func statement(o *Options, snapshots *snapshot.Store) peers.Statement {
	s := peers.Statement{
		Version:  strings.TrimSuffix(o.Version, " "+runtime.GOOS+"/"+runtime.GOARCH),
		Settings: map[string]string{},
	}
	for name, value := range decidingFlags(o) {
		s.Settings[name] = peers.Hash(value)
	}
	if newest := snapshots.Load(); newest != nil {
		s.Clocks = newest.Loop.Clocks
	}
	return s
}

// decidingFlags returns the flags that affect the served values and do not have their defaults. Each has its value or, for a file with
// settings, the content of the file. They are all flags of these sections, except those for credentials, for the location of data, and for
// the speed of queries.
func decidingFlags(o *Options) map[string]string {
	out := map[string]string{}
	for _, section := range []string{
		"Forecasts", "History from a Prometheus", "History from several sources, by namespace", "History from the embedded engine", "Queries",
	} {
		if o.flags[section] == nil {
			continue
		}
		o.flags[section].VisitAll(func(f *pflag.Flag) {
			switch f.Name {
			case "prometheus-token-file",
				"prometheus-ca-file",
				"prometheus-cert-file",
				"prometheus-key-file",
				"prometheus-auth",
				"sources-pod-identity",
				"data-dir",
				"query-timeout",
				"query-concurrency",
				"query-concurrency-per-namespace":
				return
			}
			if f.Value.String() != f.DefValue {
				out[f.Name] = decidingValue(f)
			}
		})
	}
	return out
}

// decidingValue returns the value of a flag, or the content of its file. A list has the same value in any order.
func decidingValue(f *pflag.Flag) string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return strings.Join(slices.Sorted(slices.Values(list.GetSlice())), ",")
	}
	if f.Name == "sources-file" || f.Name == "scrape-config" {
		if content, err := os.ReadFile(f.Value.String()); err == nil {
			return string(content)
		}
	}
	return f.Value.String()
}
