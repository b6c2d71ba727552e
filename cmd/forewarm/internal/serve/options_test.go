package serve_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/units"
	"github.com/prometheus/common/model"
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/serve"
	"github.com/forewarm/forewarm/pkg/kube/aggregation"
	"github.com/forewarm/forewarm/pkg/serve/kedaserver"
)

func serveParse(t *testing.T, args ...string) serve.Options {
	t.Helper()
	options := serve.Defaults()
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	for _, section := range options.Flags().FlagSets {
		flags.AddFlagSet(section)
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return options
}

func TestGoodOptions(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"--standalone", "--config-dir", dir, "--scrape-config", "scrape.yaml"},
		{"--standalone", "--config-dir", dir, "--prometheus-url", "http://prometheus:9090", "--port", "0"},
		{"--prometheus-url", "https://mimir/prometheus", "--prometheus-header", "X-Scope-OrgID=a"},
		{"--prometheus-url", "http://prometheus:9090", "--keda-address", "127.0.0.1:9090"},
	} {
		options := serveParse(t, args...)
		if err := options.Validate(); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestFlagsReachTheOptions(t *testing.T) {
	o := serveParse(
		t,
		"--retention",
		"30d",
		"--retention-size",
		"2GB",
		"--cluster-query-namespaces",
		"a,b",
		"--refit",
		"1h",
		"--prometheus-header",
		"X-Scope-OrgID=a",
		"--log-level",
		"debug",
		"--port",
		"0",
		"--kubeconfig",
		"k",
		"--serve-custom-metrics=false",
		"--keda-address",
		":1",
		"--keda-tls-cert-file",
		"c",
		"--keda-tls-private-key-file",
		"p",
		"--keda-client-ca-file",
		"a",
		"--keda-plaintext",
	)
	wanted := kedaserver.Config{Address: ":1", CertFile: "c", KeyFile: "p", ClientCAFile: "a", Plaintext: true}
	if o.Retention != model.Duration(30*24*time.Hour) || o.RetentionSize != 2*units.GiB ||
		len(o.ClusterQueryNamespaces) != 2 ||
		o.Refresh.Refit != time.Hour ||
		string(o.Prometheus.HTTP.HTTPHeaders.Headers["X-Scope-OrgID"].Secrets[0]) != "a" ||
		o.Log.Level != "debug" || o.KEDA != wanted || o.Local.Port != 0 || o.Cluster.Kubeconfig != "k" ||
		o.Cluster.Custom != aggregation.Off {
		t.Errorf("options %+v", o)
	}
}

func TestEveryProblemAtOnce(t *testing.T) {
	o := serveParse(t, "--standalone", "--port", "70000", "--retention", "5m", "--retention-size", "0", "--data-dir",
		"", "--tenant-label", "a-b", "--log-level", "loud", "--log-format", "xml", "--refit", "-1s",
		"--query-concurrency", "-1", "--keda-address", ":9090", "--warm-pool-step", "0s")
	err := o.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"--port 70000", "--standalone reads no Forecasts", "set --config-dir", "set --prometheus-url, --sources-file, or --scrape-config",
		"the data directory is not set", "a retention of 5m0s", "--retention-size 0B is too small: write at least 64MiB", `--tenant-label "a-b"`, `--log-level "loud"`, `--log-format "xml"`,
		"refit is -1s", "concurrency is -1", "--keda-address :9090 without TLS", "--warm-pool-step 0s",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not among the problems:\n%v", want, err)
		}
	}
}

func TestContradictions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"keep one", []string{"--prometheus-url", "http://p:9090", "--scrape-config", "x.yaml"}},
		{"expected http://HOST:PORT", []string{"--prometheus-url", "p:9090"}},
		{"list the Prometheus in it, too", []string{"--prometheus-url", "http://p:9090", "--sources-file", "x.yaml"}},
		{"remove --prometheus-url and --scrape-config", []string{"--scrape-config", "x.yaml", "--sources-file", "x.yaml"}},
		{"both or neither", []string{"--prometheus-url", "http://p:9090", "--prometheus-key-file", "k"}},
		{"no such file", []string{"--prometheus-url", "http://p:9090", "--config-dir", file}},
		{"is a file", []string{"--prometheus-url", "http://p:9090", "--config-dir", "options_test.go"}},
		{"/dev/zero", []string{"--scrape-config", "x.yaml", "--keda-address", ":1", "--keda-client-ca-file", "/dev/zero"}},
		{"/dev/zero", []string{"--scrape-config", "x.yaml", "--tls-cert-file", "/dev/zero"}},
		{"a folder on this machine", []string{"--scrape-config", "x.yaml", "--data-dir", "s3://bucket/x"}},
	} {
		o := serveParse(t, c.args...)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want one with %q", c.args, err, c.want)
		}
	}
}
