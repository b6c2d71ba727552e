package serve

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

	"github.com/spf13/pflag"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
)

// KEDAOptions configure the server.
type KEDAOptions struct {
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
}

// AddFlags binds the options to flags.
func (o *KEDAOptions) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Address, "keda-address", o.Address,
		"address of KEDA's external scaler (gRPC), for example :9090; without it the scaler is off")
	flags.StringVar(
		&o.CertFile,
		"keda-tls-cert-file",
		o.CertFile,
		"certificate of the scaler, instead of one that Forewarm's own authority signs; it, its key and the authorities are "+
			"reloaded when they change",
	)
	flags.StringVar(&o.KeyFile, "keda-tls-private-key-file", o.KeyFile, "key of the scaler's certificate")
	flags.StringVar(&o.ClientCAFile, "keda-client-ca-file", o.ClientCAFile,
		"certificate authorities that KEDA's own certificate is checked against; other clients are refused")
	flags.BoolVar(
		&o.Plaintext,
		"keda-plaintext",
		o.Plaintext,
		"serve the scaler without TLS beyond this machine: anyone who reaches the port can read the demand of all namespaces",
	)
}

// Enabled reports whether the scaler is served.
func (o *KEDAOptions) Enabled() bool { return o.Address != "" }

// hasFiles reports whether certificates are given as files.
func (o *KEDAOptions) hasFiles() bool {
	return o.CertFile != "" || o.KeyFile != "" || o.ClientCAFile != ""
}

// OwnCertificates reports whether Forewarm's own authority signs the certificates of both ends.
func (o *KEDAOptions) OwnCertificates() bool {
	return o.Enabled() && o.Signed && !o.hasFiles() && !o.Plaintext
}

// encrypted reports whether the options ask for TLS.
func (o *KEDAOptions) encrypted() bool { return o.hasFiles() || o.OwnCertificates() }

// Validate returns every problem at once, those of the files' contents too.
func (o *KEDAOptions) Validate() error {
	if !o.Enabled() {
		if o.hasFiles() || o.Plaintext {
			return errors.New("the options of KEDA's scaler have no effect without its address: " +
				"write for example --keda-address=:9090")
		}
		return nil
	}
	var problems []error
	host, err := splitAddress(o.Address)
	if err != nil {
		problems = append(problems, err)
	}
	switch {
	case o.hasFiles() && o.Plaintext:
		problems = append(problems,
			errors.New("--keda-plaintext contradicts the certificates of --keda-*-file: keep one"))
	case o.hasFiles():
		problems = append(problems, o.checkFiles())
	case o.OwnCertificates():
	case err == nil && !o.Plaintext && !isLoopback(host):
		problems = append(problems,
			fmt.Errorf("--keda-address %s without TLS lets others read the demand of every namespace: "+
				"set --keda-tls-cert-file, --keda-tls-private-key-file and --keda-client-ca-file, or serve on "+
				"127.0.0.1, or allow it with --keda-plaintext", o.Address))
	}
	return errors.Join(problems...)
}

// splitAddress is the host of an address whose port is a number.
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
func (o *KEDAOptions) checkFiles() error {
	var missing []string
	flags := []cmdline.FileFlag{
		{Name: "--keda-tls-cert-file", Path: o.CertFile},
		{Name: "--keda-tls-private-key-file", Path: o.KeyFile},
		{Name: "--keda-client-ca-file", Path: o.ClientCAFile},
	}
	for _, f := range flags {
		if f.Path == "" {
			missing = append(missing, f.Name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf(
			"mutual TLS for KEDA's scaler needs a certificate, its key and its clients' certificate authority: set %s",
			strings.Join(missing, " and "),
		)
	}
	if err := cmdline.CheckFlagFiles(cmdline.MaxSecret, flags...); err != nil {
		return err
	}
	var problems []error
	if _, err := tls.LoadX509KeyPair(o.CertFile, o.KeyFile); err != nil {
		problems = append(problems, fmt.Errorf("--keda-tls-cert-file and --keda-tls-private-key-file: %w", err))
	}
	bundle, err := os.ReadFile(o.ClientCAFile)
	switch {
	case err != nil:
		problems = append(problems, fmt.Errorf("--keda-client-ca-file: %w", err))
	case !x509.NewCertPool().AppendCertsFromPEM(bundle):
		problems = append(problems,
			fmt.Errorf("--keda-client-ca-file %s: the file has no certificate in PEM form", o.ClientCAFile))
	}
	return errors.Join(problems...)
}
