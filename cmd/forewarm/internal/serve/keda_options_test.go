package serve_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/serve"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
)

func kedaParse(t *testing.T, args ...string) serve.KEDAOptions {
	t.Helper()
	var o serve.KEDAOptions
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	o.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return o
}

// flagsOf are those that name the files.
func flagsOf(o serve.KEDAOptions) []string {
	return []string{
		"--keda-tls-cert-file", o.CertFile, "--keda-tls-private-key-file", o.KeyFile, "--keda-client-ca-file",
		o.ClientCAFile,
	}
}

func TestOptions(t *testing.T) {
	f := files{t: t, dir: t.TempDir()}
	a := newAuthority(t, "a")
	f.pair(a, 1)
	f.write("ca.crt", a.bundle())
	good, wrong := f.options(), f.options()
	wrong.CertFile, wrong.ClientCAFile = wrong.KeyFile, wrong.KeyFile
	none := serve.KEDAOptions{
		CertFile: filepath.Join(f.dir, "none"), KeyFile: good.KeyFile, ClientCAFile: filepath.Join(f.dir, "nowhere"),
	}
	for _, test := range []struct {
		name  string
		args  []string
		words []string // None: valid.
	}{
		{"off", nil, nil},
		{"on loopback", []string{"--keda-address", "127.0.0.1:9090"}, nil},
		{"on loopback by name", []string{"--keda-address", "localhost:0"}, nil},
		{"on loopback, IPv6", []string{"--keda-address", "[::1]:9090"}, nil},
		{"with TLS", append(flagsOf(good), "--keda-address", ":9090"), nil},
		{"plain by choice", []string{"--keda-address", ":9090", "--keda-plaintext"}, nil},
		{"plain without choice", []string{"--keda-address", ":9090"}, []string{"without TLS", "--keda-client-ca-file", "--keda-plaintext"}},
		{"another machine's address", []string{"--keda-address", "10.0.0.1:9090"}, []string{"without TLS"}},
		{"no port", []string{"--keda-address", "127.0.0.1"}, []string{`"127.0.0.1" is not HOST:PORT`, "for example :9090"}},
		{"a port in words", []string{"--keda-address", ":grpc"}, []string{"is not HOST:PORT"}},
		{"a large port", []string{"--keda-address", ":70000"}, []string{"is not HOST:PORT"}},
		{"no address", flagsOf(good), []string{"no effect", "--keda-address=:9090"}},
		{"plain without an address", []string{"--keda-plaintext"}, []string{"no effect"}},
		{
			"a contradiction", append(flagsOf(good), "--keda-address", ":9090", "--keda-plaintext"),
			[]string{"--keda-plaintext contradicts"},
		},
		{
			"the certificate alone",
			[]string{"--keda-address", ":9090", "--keda-tls-cert-file", good.CertFile},
			[]string{"set --keda-tls-private-key-file and --keda-client-ca-file"},
		},
		{"no such files, and no port", append(flagsOf(none), "--keda-address", ":x"), []string{"none", "nowhere", "HOST:PORT"}},
		{
			"the wrong files", append(flagsOf(wrong), "--keda-address", ":9090"),
			[]string{"--keda-tls-cert-file", "has no certificate in PEM"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := kedaParse(t, test.args...)
			err := o.Validate()
			if len(test.words) == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			for _, word := range test.words {
				if err == nil || !strings.Contains(err.Error(), word) {
					t.Errorf("%q is not in the error %v", word, err)
				}
			}
		})
	}
}

func TestATakenPort(t *testing.T) {
	r := kedaPlain(t, snapshottest.Store())
	o := serve.KEDAOptions{Address: r.address}
	_, err := serve.OpenKEDA(context.Background(), o, snapshottest.Store(), snapshottest.Now,
		slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "choose another --keda-address") {
		t.Errorf("a taken port: %v", err)
	}
}
