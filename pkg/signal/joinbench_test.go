package signal_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"

	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// BenchmarkJoin measures what the newest samples of a namespace cost an engine, asked one by one and together: fifty workloads of four
// pods by a preset, and sums of one selector each.
func BenchmarkJoin(b *testing.B) {
	const workloads, pods = 50, 4
	var load strings.Builder
	load.WriteString("load 15s\n")
	var presets, sums []string
	inflight, err := signal.Lookup("vllm/inflight")
	if err != nil {
		b.Fatal(err)
	}
	for w := range workloads {
		name := fmt.Sprintf("model-%d", w)
		fmt.Fprintf(
			&load,
			"  kube_replicaset_owner{namespace=\"ai\",replicaset=\"%s-7d9\",owner_kind=\"Deployment\",owner_name=%q} 1x100\n",
			name,
			name,
		)
		for p := range pods {
			pod := fmt.Sprintf("%s-7d9-%d", name, p)
			fmt.Fprintf(
				&load,
				"  kube_pod_owner{namespace=\"ai\",pod=%q,owner_kind=\"ReplicaSet\",owner_name=\"%s-7d9\"} 1x100\n",
				pod,
				name,
			)
			for _, metric := range []string{"running", "waiting"} {
				fmt.Fprintf(
					&load,
					"  vllm:num_requests_%s{namespace=\"ai\",pod=%q,instance=%q,model_name=%q} 3+1x100\n",
					metric,
					pod,
					pod,
					name,
				)
			}
		}
		expr, err := inflight.Render("ai", signal.Target{Kind: "Deployment", Name: name}, signal.DefaultTrust())
		if err != nil {
			b.Fatal(err)
		}
		presets = append(presets, expr)
		sums = append(sums, fmt.Sprintf(`sum(vllm:num_requests_running{model_name=%q,namespace="ai"})`, name))
	}
	from := promqltest.LoadedStorage(b, load.String())
	defer from.Close() //nolint:errcheck // A benchmark's own.
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e7, Timeout: time.Minute})
	ask := func(b *testing.B, expr string) {
		b.Helper()
		q, err := engine.NewRangeQuery(b.Context(), from, nil, expr, time.Unix(600, 0), time.Unix(900, 0), time.Minute)
		if err != nil {
			b.Fatal(err)
		}
		defer q.Close()
		if matrix, err := q.Exec(b.Context()).Matrix(); err != nil || len(matrix) == 0 {
			b.Fatal(len(matrix), err)
		}
	}
	for name, queries := range map[string][]string{"preset": presets, "sum": sums} {
		parts := make([]promexpr.Part, len(queries))
		for i, expr := range queries {
			var ok bool
			if parts[i], ok = promexpr.Split(expr); !ok {
				b.Fatal(expr)
			}
		}
		b.Run(name+"/alone", func(b *testing.B) {
			for b.Loop() {
				for _, expr := range queries {
					ask(b, expr)
				}
			}
		})
		b.Run(name+"/together", func(b *testing.B) {
			for b.Loop() {
				ask(b, promexpr.Join(parts))
			}
		})
	}
}
