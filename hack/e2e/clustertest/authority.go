package clustertest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// authority signs the certificates of a cluster.
type authority struct {
	dir         string
	certificate *x509.Certificate
	key         crypto.Signer
	pem         []byte
}

// pair is a certificate and its key, as files.
type pair struct{ certificate, key string }

// newAuthority returns an authority and writes its certificate to ca.crt in a folder.
func newAuthority(dir string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the authority's key: %w", err)
	}
	template := template("forewarm e2e")
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage |= x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make the authority: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make the authority: %w", err)
	}
	a := &authority{dir: dir, certificate: certificate, key: key, pem: encode("CERTIFICATE", der)}
	return a, os.WriteFile(a.file(), a.pem, 0o600)
}

func (a *authority) file() string { return filepath.Join(a.dir, "ca.crt") }

// issue writes a certificate for a client or a server. It is valid for the names and 127.0.0.1.
func (a *authority) issue(file, name string, organizations []string, names ...string) (pair, error) {
	out := pair{filepath.Join(a.dir, file+".crt"), filepath.Join(a.dir, file+".key")}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return out, fmt.Errorf("make the key of %s: %w", name, err)
	}
	template := template(name)
	template.Subject.Organization = organizations
	template.DNSNames = slices.Concat(names, []string{"localhost"})
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return out, fmt.Errorf("sign the certificate of %s: %w", name, err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return out, fmt.Errorf("write the key of %s: %w", name, err)
	}
	if err := os.WriteFile(out.key, encode("PRIVATE KEY", secret), 0o600); err != nil {
		return out, fmt.Errorf("write the key of %s: %w", name, err)
	}
	return out, os.WriteFile(out.certificate, encode("CERTIFICATE", der), 0o600)
}

func template(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
