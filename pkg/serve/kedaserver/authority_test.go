package kedaserver_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/serve/kedaserver"
)

// authority issues certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{t: t, key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	a.cert = a.sign(template, template, &a.key.PublicKey)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *authority) sign(template, parent *x509.Certificate, public *ecdsa.PublicKey) *x509.Certificate {
	a.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert
}

// issue makes a certificate for 127.0.0.1, good for both ends, and its key, in PEM.
func (a *authority) issue(serial int64) (cert, key []byte) {
	a.t.Helper()
	own := newKey(a.t)
	leaf := a.sign(&x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "leaf"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, &own.PublicKey)
	der, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		a.t.Fatal(err)
	}
	return inPEM("CERTIFICATE", leaf.Raw), inPEM("PRIVATE KEY", der)
}

func (a *authority) bundle() []byte { return inPEM("CERTIFICATE", a.cert.Raw) }

func inPEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// client is the configuration of a client that trusts a server of this authority and has a certificate of another.
func (a *authority) client(by *authority) *tls.Config {
	a.t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	config := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	if by != nil {
		pair, err := tls.X509KeyPair(by.issue(7))
		if err != nil {
			a.t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config
}

// files are a server's certificates on disk.
type files struct {
	t   *testing.T
	dir string
}

// write replaces a file at once, as the kubelet does.
func (f files) write(name string, content []byte) {
	f.t.Helper()
	part := filepath.Join(f.dir, name+".part")
	if err := os.WriteFile(part, content, 0o600); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(part, filepath.Join(f.dir, name)); err != nil {
		f.t.Fatal(err)
	}
}

// pair writes a certificate and its key, one after the other: for a moment they do not belong together.
func (f files) pair(by *authority, serial int64) {
	f.t.Helper()
	cert, key := by.issue(serial)
	f.write("tls.crt", cert)
	f.write("tls.key", key)
}

func (f files) options() kedaserver.Config {
	return kedaserver.Config{
		Address: "127.0.0.1:0", CertFile: filepath.Join(f.dir, "tls.crt"), KeyFile: filepath.Join(f.dir, "tls.key"),
		ClientCAFile: filepath.Join(f.dir, "ca.crt"),
	}
}
