package neighbours_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"
)

// kubeState is a running kube-state-metrics.
type kubeState struct {
	*processtest.Process
	address, telemetry string

	program processtest.Program
	dir     string
	// whole is the test that it ends with, also where a part of it has started it again.
	whole *testing.T
}

// installation is where kube-state-metrics is, and what it reads.
type installation struct{ binaries, kubeconfig, dir string }

// startKubeState runs kube-state-metrics.
func startKubeState(t *testing.T, in installation, name string, args ...string) *kubeState {
	t.Helper()
	ports, err := processtest.FreePorts(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	k := &kubeState{dir: in.dir, whole: t, program: processtest.Program{
		Name: name, Binary: filepath.Join(in.binaries, "kube-state-metrics"), Args: append(args,
			"--kubeconfig="+in.kubeconfig, "--host=127.0.0.1", fmt.Sprintf("--port=%d", ports[0]),
			"--telemetry-host=127.0.0.1", fmt.Sprintf("--telemetry-port=%d", ports[1]),
			"--resources=nodes,pods,replicasets", "--metric-labels-allowlist=nodes=[nvidia.com/gpu.replicas]",
		),
	}}
	k.address, k.telemetry = fmt.Sprintf("127.0.0.1:%d", ports[0]), fmt.Sprintf("127.0.0.1:%d", ports[1])
	k.start(t)
	return k
}

// start starts it, also again after a Kill, at the same address.
func (k *kubeState) start(t *testing.T) {
	t.Helper()
	var err error
	if k.Process, err = k.program.Start(k.dir); err != nil {
		t.Fatal(err)
	}
	process := k.Process
	k.whole.Cleanup(func() {
		if k.whole.Failed() {
			k.whole.Logf("%s:\n%s", process.Name, process.Tail())
		}
		process.Kill()
	})
	ready := "http://" + k.telemetry + "/readyz"
	if err := k.AwaitHealthy(t.Context(), time.Minute, http.DefaultClient, ready); err != nil {
		t.Fatal(err)
	}
}

const (
	// replicated is the cluster label of series that two replicas of kube-state-metrics report, sharded that of two shards.
	replicated, sharded = "replicated", "sharded"
	// troubled is that of two shards that go away.
	troubled = "troubled"
	// truth is that of the exporter's own owners.
	truth = "truth"
	// interval is that of the scrapes.
	interval = 2 * time.Second
)

// honoured are the two ways to scrape an exporter that reports other pods.
var honoured = map[string]bool{"honoured": true, "exported": false}

// scrapes is Prometheus' configuration: everything once for each way, with a label cluster, as a store of several clusters has it.
func scrapes(exporter string, neighbours map[string][]*kubeState) string {
	var out strings.Builder
	fmt.Fprintf(&out, "global: {scrape_interval: %[1]s, scrape_timeout: %[1]s}\nscrape_configs:\n", interval)
	job := func(name, path, cluster string, honour bool, targets ...string) {
		fmt.Fprintf(&out, `
  - job_name: %s
    metrics_path: %s
    honor_labels: %v
    static_configs: [{targets: ["%s"], labels: {cluster: %s, namespace: monitoring, pod: exporter-0}}]
`, name+"-"+cluster, path, honour, strings.Join(targets, `", "`), cluster)
	}
	job("exporter", "/truth", truth, true, exporter)
	for set, members := range neighbours {
		var addresses []string
		for _, k := range members {
			addresses = append(addresses, k.address)
		}
		for how, honour := range honoured {
			job("exporter", "/metrics", set+"-"+how, true, exporter)
			job("kube-state-metrics", "/metrics", set+"-"+how, honour, addresses...)
		}
	}
	return out.String()
}
