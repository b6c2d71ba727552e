package prometheus_test

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
)

// The tests of stores run real ones: Prometheus, VictoriaMetrics and Thanos (sidecar, receive, store,
// query). Every server listens on loopback, keeps its data in a temporary folder and is killed when its test ends.
//
// FOREWARM_STORES lists the folders with the binaries victoria-metrics and thanos, as PATH lists folders. Prometheus is
// that of PATH.

// Prometheus is a server that takes samples by remote write.
type Prometheus struct {
	*Process

	config string
}

// StartPrometheus runs the Prometheus of PATH with the label replica among its external labels.
func StartPrometheus(tb testing.TB, replica string) *Prometheus {
	tb.Helper()
	built(tb)
	path, err := exec.LookPath("prometheus")
	if err != nil {
		tb.Skip("no prometheus on PATH: install one, on Debian by `apt-get install prometheus`")
	}
	dir, at := tb.TempDir(), address(tb)
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global: {external_labels: {cluster: test, replica: %q}}\n", replica)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return &Prometheus{config: config, Process: start(tb, path, at, "/-/ready", "--config.file="+config,
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--storage.tsdb.retention.time=100y",
		"--web.listen-address="+at, "--web.enable-remote-write-receiver")}
}

// Write sends samples to it.
func (p *Prometheus) Write(tb testing.TB, all []Series) {
	tb.Helper()
	p.write(tb, p.URL+"/api/v1/write", all)
}

// VictoriaMetrics is a single node.
type VictoriaMetrics struct{ *Process }

// StartVictoriaMetrics runs a single node with further flags.
func StartVictoriaMetrics(tb testing.TB, flags ...string) *VictoriaMetrics {
	tb.Helper()
	path, at := binary(tb, "victoria-metrics"), address(tb)
	flags = append([]string{
		"-storageDataPath=" + filepath.Join(tb.TempDir(), "data"), "-httpListenAddr=" + at, "-retentionPeriod=100y",
		// A share of the machine's memory would be too much alongside other tests.
		"-memory.allowedBytes=256MB",
	}, flags...)
	return &VictoriaMetrics{start(tb, path, at, "/health", flags...)}
}

// Write sends samples to it, and returns when they can be queried.
func (v *VictoriaMetrics) Write(tb testing.TB, all []Series) {
	tb.Helper()
	v.write(tb, v.URL+"/api/v1/write", all)
	if _, err := get(tb.Context(), v.URL+"/internal/force_flush"); err != nil {
		tb.Fatal(err)
	}
}

// Thanos is a part of Thanos.
type Thanos struct {
	*Process

	// GRPC is the address where a query asks it for series.
	GRPC string

	// intake is where a receiver takes samples.
	intake string
}

func startThanos(tb testing.TB, part string, flags ...string) *Thanos {
	tb.Helper()
	http, grpc := address(tb), address(tb)
	flags = append([]string{part, "--http-address=" + http, "--grpc-address=" + grpc}, flags...)
	return &Thanos{GRPC: grpc, Process: start(tb, binary(tb, "thanos"), http, "/-/ready", flags...)}
}

// StartThanosSidecar runs a sidecar of a Prometheus.
func StartThanosSidecar(tb testing.TB, p *Prometheus) *Thanos {
	tb.Helper()
	return startThanos(tb, "sidecar", "--prometheus.url="+p.URL, "--tsdb.path="+filepath.Dir(p.config))
}

// StartThanosReceive runs a receiver of samples with the label replica.
func StartThanosReceive(tb testing.TB, replica string) *Thanos {
	tb.Helper()
	at := address(tb)
	t := startThanos(tb, "receive", "--remote-write.address="+at, "--receive.capnproto-address="+address(tb),
		"--tsdb.path="+filepath.Join(tb.TempDir(), "data"), "--tsdb.retention=0d",
		fmt.Sprintf("--label=replica=%q", replica))
	t.intake = "http://" + at + "/api/v1/receive"
	return t
}

// Write sends samples to a receiver.
func (t *Thanos) Write(tb testing.TB, all []Series) {
	tb.Helper()
	t.Process.write(tb, t.intake, all)
}

// StartThanosQuery runs a query over stores, with the label replica for its deduplication. It returns when it knows
// that many stores.
func StartThanosQuery(tb testing.TB, stores int, flags ...string) *Thanos {
	tb.Helper()
	t := startThanos(tb, "query", append([]string{"--query.replica-label=replica"}, flags...)...)
	t.AwaitStores(tb, stores)
	return t
}

// healthyStores is how many stores a query knows and reaches.
func (t *Thanos) healthyStores(ctx context.Context) (int, error) {
	text, err := get(ctx, t.URL+"/api/v1/stores")
	if err != nil {
		return 0, err
	}
	var answer struct {
		Data map[string][]struct {
			LastError any `json:"lastError"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return 0, err
	}
	healthy := 0
	for _, stores := range answer.Data {
		for _, s := range stores {
			if s.LastError == nil {
				healthy++
			}
		}
	}
	return healthy, nil
}

// AwaitStores waits until a query knows that many healthy stores.
func (t *Thanos) AwaitStores(tb testing.TB, stores int) {
	tb.Helper()
	err := t.Await(tb.Context(), startTimeout, func(ctx context.Context) error {
		known, err := t.healthyStores(ctx)
		if err == nil && known != stores {
			err = fmt.Errorf("it knows %d healthy stores, want %d", known, stores)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// Endpoints are the flags for stores of a query: flag is --endpoint or --endpoint-strict.
func Endpoints(flag string, stores ...*Thanos) []string {
	flags := make([]string, 0, len(stores))
	for _, s := range stores {
		flags = append(flags, flag+"="+s.GRPC)
	}
	return flags
}

// Version is the version of a store's program: what that of PATH prints, or the module that another is built from.
func Version(tb testing.TB, name string) string {
	tb.Helper()
	if name == "prometheus" {
		text, err := exec.CommandContext(tb.Context(), name, "--version").CombinedOutput()
		if err != nil {
			tb.Fatal(err)
		}
		line, _, _ := strings.Cut(string(text), " (")
		return line
	}
	info, err := buildinfo.ReadFile(binary(tb, name))
	if err != nil {
		tb.Fatal(err)
	}
	return name + " " + info.Main.Version
}

// Append adds the samples to a storage of Prometheus in the order of their times.
func Append(tb testing.TB, appender func(context.Context) storage.Appender, all []Series) {
	tb.Helper()
	type row struct {
		labels labels.Labels
		sample Sample
	}
	var rows []row
	for _, s := range all {
		own := labels.FromMap(s.Labels)
		for _, sample := range s.Samples {
			rows = append(rows, row{own, sample})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return int(a.sample.At - b.sample.At) })
	const commit = 5000
	for batch := range slices.Chunk(rows, commit) {
		app := appender(tb.Context())
		for _, r := range batch {
			if _, err := app.Append(0, r.labels, r.sample.At, r.sample.Value); err != nil {
				tb.Fatal(err)
			}
		}
		if err := app.Commit(); err != nil {
			tb.Fatal(err)
		}
	}
}

// StartThanosStore runs a store gateway on a folder as its bucket, with one block of the samples and the label replica.
func StartThanosStore(tb testing.TB, replica string, all []Series) *Thanos {
	tb.Helper()
	blocks, bucket := tb.TempDir(), fmt.Sprintf("{type: FILESYSTEM, config: {directory: %q}}", tb.TempDir())
	const longest = 60 * 24 * time.Hour
	w, err := tsdb.NewBlockWriter(slog.New(slog.DiscardHandler), blocks, longest.Milliseconds())
	if err != nil {
		tb.Fatal(err)
	}
	Append(tb, w.Appender, all)
	if _, err = w.Flush(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	if err = w.Close(); err != nil {
		tb.Fatal(err)
	}
	upload := exec.CommandContext(tb.Context(), binary(tb, "thanos"), "tools", "bucket", "upload-blocks",
		"--path="+blocks, fmt.Sprintf("--label=replica=%q", replica), "--objstore.config="+bucket)
	if text, err := upload.CombinedOutput(); err != nil {
		tb.Fatalf("upload a block: %v\n%s", err, text)
	}
	return startThanos(tb, "store", "--objstore.config="+bucket, "--data-dir="+filepath.Join(tb.TempDir(), "data"))
}
