package kedaserver_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/kedaserver"
)

// at is a configuration at an address.
func at(address string, c kedaserver.Config) kedaserver.Config {
	c.Address = address
	return c
}

func TestConfig(t *testing.T) {
	f := files{t: t, dir: t.TempDir()}
	a := newAuthority(t, "a")
	f.pair(a, 1)
	f.write("ca.crt", a.bundle())
	good, wrong := f.options(), f.options()
	wrong.CertFile, wrong.ClientCAFile = wrong.KeyFile, wrong.KeyFile
	contradictory := good
	contradictory.Plaintext = true
	none := kedaserver.Config{
		CertFile: filepath.Join(f.dir, "none"), KeyFile: good.KeyFile, ClientCAFile: filepath.Join(f.dir, "nowhere"),
	}
	for _, test := range []struct {
		name   string
		config kedaserver.Config
		words  []string // None: valid.
	}{
		{"off", kedaserver.Config{}, nil},
		{"on loopback", at("127.0.0.1:9090", kedaserver.Config{}), nil},
		{"on loopback by name", at("localhost:0", kedaserver.Config{}), nil},
		{"on loopback, IPv6", at("[::1]:9090", kedaserver.Config{}), nil},
		{"with TLS", at(":9090", good), nil},
		{"plain by choice", at(":9090", kedaserver.Config{Plaintext: true}), nil},
		{"plain without choice", at(":9090", kedaserver.Config{}), []string{"without TLS", "--keda-client-ca-file", "--keda-plaintext"}},
		{"another machine's address", at("10.0.0.1:9090", kedaserver.Config{}), []string{"without TLS"}},
		{"no port", at("127.0.0.1", kedaserver.Config{}), []string{`"127.0.0.1" is not HOST:PORT`, "for example :9090"}},
		{"a port in words", at(":grpc", kedaserver.Config{}), []string{"is not HOST:PORT"}},
		{"a large port", at(":70000", kedaserver.Config{}), []string{"is not HOST:PORT"}},
		{"no address", at("", good), []string{"no effect", "--keda-address=:9090"}},
		{"plain without an address", kedaserver.Config{Plaintext: true}, []string{"no effect"}},
		{
			"a contradiction", at(":9090", contradictory),
			[]string{"--keda-plaintext and the certificates"},
		},
		{
			"the certificate alone",
			at(":9090", kedaserver.Config{CertFile: good.CertFile}),
			[]string{"set --keda-tls-private-key-file and --keda-client-ca-file"},
		},
		{"no such files, and no port", at(":x", none), []string{"none", "nowhere", "HOST:PORT"}},
		{
			"the wrong files", at(":9090", wrong),
			[]string{"--keda-tls-cert-file", "contains no certificate in PEM"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.config.Validate()
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
	o := kedaserver.Config{Address: r.address}
	_, err := kedaserver.Open(context.Background(), o, snapshottest.Store(), snapshottest.Now,
		slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "choose another --keda-address") {
		t.Errorf("a taken port: %v", err)
	}
}
