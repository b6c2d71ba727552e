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

// statement is what this adapter replica says about itself to the others. The platform decides the last digits of a value at most, so it
// is no part of the version.
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

// decidingFlags are the flags by which values are decided and that are not at their defaults, with their values or, of a file with
// settings, its content. They are all flags of these sections but for where credentials and data are, and how fast queries run.
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

// decidingValue is the value of a flag, the same for any order of a list, or the content of its file.
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
