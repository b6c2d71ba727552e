package kedaserver

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"

	"github.com/forewarm/forewarm/pkg/core/fleet"
)

// Config configures the server.
type Config struct {
	// Address is HOST:PORT or :PORT; empty means that the scaler is off.
	Address string
	// CertFile, KeyFile and ClientCAFile are all set, or none is: then Forewarm's own authority signs, or without one the server
	// is plain.
	CertFile, KeyFile, ClientCAFile string
	// Plaintext serves without TLS, also beyond this machine.
	Plaintext bool
	// Signed says that Forewarm has an authority of its own. Open then needs Serving, a certificate that it signed, and Clients,
	// the authority by which KEDA's certificate is verified; both notify of changes.
	Signed  bool
	Serving dynamiccertificates.CertKeyContentProvider
	Clients dynamiccertificates.CAContentProvider
	// Fleets have the plans that triggers of a GPUFleet read; nil for none.
	Fleets *fleet.Store
}

// Enabled reports whether the scaler is served.
func (c *Config) Enabled() bool { return c.Address != "" }

// hasFiles reports whether certificates are given as files.
func (c *Config) hasFiles() bool {
	return c.CertFile != "" || c.KeyFile != "" || c.ClientCAFile != ""
}

// OwnCertificates reports whether Forewarm's own authority signs the certificates of both ends.
func (c *Config) OwnCertificates() bool {
	return c.Enabled() && c.Signed && !c.hasFiles() && !c.Plaintext
}

// encrypted reports whether the server uses TLS.
func (c *Config) encrypted() bool { return c.hasFiles() || c.OwnCertificates() }

// Validate returns all problems, including problems with the contents of the files.
func (c *Config) Validate() error {
	if !c.Enabled() {
		if c.hasFiles() || c.Plaintext {
			return errors.New("the options for KEDA's scaler have no effect without an address: " +
				"set for example --keda-address=:9090")
		}
		return nil
	}
	var problems []error
	host, err := splitAddress(c.Address)
	if err != nil {
		problems = append(problems, err)
	}
	switch {
	case c.hasFiles() && c.Plaintext:
		problems = append(problems,
			errors.New("--keda-plaintext and the certificates of --keda-*-file exclude each other: keep one"))
	case c.hasFiles():
		problems = append(problems, c.checkFiles())
	case c.OwnCertificates():
	case err == nil && !c.Plaintext && !isLoopback(host):
		problems = append(problems,
			fmt.Errorf("--keda-address %s without TLS lets any client read the demand of every namespace: "+
				"set --keda-tls-cert-file, --keda-tls-private-key-file and --keda-client-ca-file, or serve on "+
				"127.0.0.1, or allow it with --keda-plaintext", c.Address))
	}
	return errors.Join(problems...)
}

// splitAddress returns the host of an address. The port must be a number.
func splitAddress(address string) (host string, err error) {
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", fmt.Errorf("--keda-address %.64q is not HOST:PORT: write for example :9090 or 127.0.0.1:9090",
			address)
	}
	return host, nil
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

// checkFiles reads the files, so that an invalid one is reported with the other errors of the command line.
func (c *Config) checkFiles() error {
	var missing []string
	for _, f := range []struct{ flag, path string }{
		{"--keda-tls-cert-file", c.CertFile},
		{"--keda-tls-private-key-file", c.KeyFile},
		{"--keda-client-ca-file", c.ClientCAFile},
	} {
		if f.path == "" {
			missing = append(missing, f.flag)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf(
			"mutual TLS for KEDA's scaler needs a certificate, its key and the certificate authority of its clients: set %s",
			strings.Join(missing, " and "),
		)
	}
	var problems []error
	if _, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile); err != nil {
		problems = append(problems, fmt.Errorf("--keda-tls-cert-file and --keda-tls-private-key-file: %w", err))
	}
	bundle, err := os.ReadFile(c.ClientCAFile)
	switch {
	case err != nil:
		problems = append(problems, fmt.Errorf("--keda-client-ca-file: %w", err))
	case !x509.NewCertPool().AppendCertsFromPEM(bundle):
		problems = append(problems,
			fmt.Errorf("--keda-client-ca-file %s: the file contains no certificate in PEM format", c.ClientCAFile))
	}
	return errors.Join(problems...)
}
