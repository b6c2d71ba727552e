package apiserver_test

import (
	"context"
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
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
)

// ownCertificate writes a certificate and its key to FILE.crt and FILE.key. It is its own authority, and good for both ends.
func ownCertificate(t *testing.T, file, name string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{
		file + ".crt": {Type: "CERTIFICATE", Bytes: cert}, file + ".key": {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return tls.Certificate{Certificate: [][]byte{cert}, PrivateKey: key}
}

// A certificate that is renewed is served without a restart.
func TestServingCertificateIsRenewed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "serving")
	ownCertificate(t, file, "first")
	base, _ := startCluster(t, snapshottest.Store(), apiserver.AllGroups(), func(o *apiserver.ClusterConfig) {
		pair := &o.Library.SecureServing.ServerCert.CertKey
		pair.CertFile, pair.KeyFile = file+".crt", file+".key"
	})
	waitReady(t, insecureClient(t), base)
	served := func() string {
		raw, err := new(net.Dialer).DialContext(context.Background(), "tcp", strings.TrimPrefix(base, "https://"))
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close() //nolint:errcheck // Read only.
		conn := tls.Client(raw, &tls.Config{InsecureSkipVerify: true})
		if err := conn.HandshakeContext(context.Background()); err != nil {
			t.Fatal(err)
		}
		return conn.ConnectionState().PeerCertificates[0].Subject.CommonName
	}
	if got := served(); got != "first" {
		t.Fatalf("%s is served", got)
	}
	ownCertificate(t, file, "second")
	for range 600 {
		if served() == "second" {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Error("the renewed certificate is not served after a minute")
}
