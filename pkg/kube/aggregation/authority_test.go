package aggregation_test

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/client-go/util/cert"

	"github.com/forewarm/forewarm/pkg/kube/aggregation"
)

const (
	host     = "forewarm.forewarm-system.svc"
	lifetime = 365 * 24 * time.Hour
	leaf     = 7 * 24 * time.Hour
)

var start = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)

func renew(t *testing.T, a *aggregation.Authority, now time.Time) *aggregation.Authority {
	t.Helper()
	out, _, err := a.Renew(now, lifetime)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// verify is what a kube-apiserver does: the certificate for the Service's name, by the certificates in caBundle.
func verify(now time.Time, certificate, bundle []byte) error {
	block, _ := pem.Decode(certificate)
	one, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	_, err = one.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, CurrentTime: now})
	return err
}

// In whatever order the leader, the kube-apiservers and the replicas notice a change, each up to two weeks late, every replica
// is verified at every time, over three lifetimes.
func TestNoOrderBreaksTrust(t *testing.T) {
	const step = 12 * time.Hour
	late := func(rng *rand.Rand) time.Duration { return time.Duration(rng.IntN(28)) * step }
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 1))
		kept := renew(t, &aggregation.Authority{}, start)
		bundle := kept.Bundle()
		signed, err := kept.Issue(start, leaf, host)
		if err != nil {
			t.Fatal(err)
		}
		certificates := map[string]bool{string(bundle): true}
		var leads, reads, signs time.Time
		for now := start; now.Before(start.Add(3 * lifetime)); now = now.Add(step) {
			if !now.Before(leads) {
				kept, leads = renew(t, kept, now), now.Add(late(rng))
				certificates[string(kept.Bundle())] = true
			}
			if !now.Before(reads) {
				bundle, reads = kept.Bundle(), now.Add(late(rng))
			}
			if !now.Before(signs) { // A leaf lives for a week, and is renewed when a third of that is left.
				if signed, err = kept.Issue(now, leaf, host); err != nil {
					t.Fatal(err)
				}
				signs = now.Add(time.Duration(1+rng.IntN(11)) * step)
			}
			if err := verify(now, signed, bundle); err != nil {
				t.Fatalf("seed %d, %s after the start: %v", seed, now.Sub(start), err)
			}
		}
		if len(certificates) < 4 {
			t.Errorf("seed %d: %d certificates in three lifetimes", seed, len(certificates))
		}
	}
}

// A Secret is read as it was written, and nothing changes before it is due.
func TestSecretRoundTrip(t *testing.T) {
	a := renew(t, renew(t, &aggregation.Authority{}, start), start.Add(lifetime*3/4))
	data, err := a.Data()
	if err != nil {
		t.Fatal(err)
	}
	read, err := aggregation.ParseAuthority(data)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read.Bundle(), a.Bundle()) || strings.Count(string(read.Bundle()), "BEGIN CERTIFICATE") != 2 {
		t.Errorf("read %s, want %s", read.Bundle(), a.Bundle())
	}
	_, changed, err := read.Renew(start.Add(lifetime*4/5), lifetime)
	if changed || err != nil {
		t.Errorf("renewed before it is due (%v)", err)
	}
	end := start.Add(lifetime * 11 / 10)
	after, changed, err := read.Renew(end, lifetime)
	if err != nil || !changed || strings.Count(string(after.Bundle()), "BEGIN") != 1 {
		t.Errorf("the certificate that has ended is still trusted: %s", after.Bundle())
	}
}

// Without a leader for a year the authority ends, and says so.
func TestEndedAuthority(t *testing.T) {
	a := renew(t, &aggregation.Authority{}, start)
	if _, err := a.Issue(
		start.Add(2*lifetime),
		leaf,
		host,
	); err == nil ||
		!strings.Contains(err.Error(), "has expired") {
		t.Errorf("%v", err)
	}
	// A leaf does not outlive the one that signed it.
	end := start.Add(lifetime - time.Hour)
	signed, err := a.Issue(end, leaf, host)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(signed)
	if one, err := x509.ParseCertificate(block.Bytes); err != nil || !one.NotAfter.Equal(a.NotAfter()) {
		t.Errorf("valid until %s (%v), want %s", one.NotAfter, err, a.NotAfter())
	}
}

// What someone else wrote into the Secret is refused with what is wrong.
func TestEditedSecrets(t *testing.T) {
	write := func(a *aggregation.Authority) map[string][]byte {
		data, err := a.Data()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	one, other := write(renew(t, &aggregation.Authority{}, start)), write(renew(t, &aggregation.Authority{}, start))
	both := write(renew(t, renew(t, &aggregation.Authority{}, start), start.Add(lifetime*3/4)))
	served, err := renew(t, &aggregation.Authority{}, start).Issue(start, leaf, host)
	if err != nil {
		t.Fatal(err)
	}
	with := func(certificates, keys []byte) map[string][]byte {
		return map[string][]byte{aggregation.CertificatesKey: certificates, aggregation.KeysKey: keys}
	}
	certificates, keys := one[aggregation.CertificatesKey], one[aggregation.KeysKey]
	for _, c := range []struct {
		name, want string
		data       map[string][]byte
	}{
		{"no key", "ca.crt (1) differs from the number of keys in ca.key (0)", with(certificates, nil)},
		{"another's key", "key 1 of ca.key does not belong to certificate 1", with(certificates, other[aggregation.KeysKey])},
		{"one key of two", "ca.crt (2) differs from the number of keys in ca.key (1)", with(both[aggregation.CertificatesKey], keys)},
		{"text", "ca.crt is not PEM", with([]byte("hello"), keys)},
		{"half a certificate", "ca.crt is not PEM", with(certificates[:200], keys)},
		{"a key as certificate", "block 1 of ca.crt", with(keys, keys)},
		{"a serving certificate", "does not belong to certificate", with(served, keys)},
		{"floods", "more than 16 blocks", with(bytes.Repeat(certificates, 20), keys)},
	} {
		if _, err := aggregation.ParseAuthority(c.data); err == nil || !strings.Contains(err.Error(), c.want) ||
			len(err.Error()) > 300 {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	a, _, err := (&aggregation.Authority{}).Renew(start, lifetime)
	if err != nil {
		f.Fatal(err)
	}
	data, err := a.Data()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data[aggregation.CertificatesKey], data[aggregation.KeysKey])
	f.Add([]byte(nil), data[aggregation.KeysKey])
	f.Fuzz(func(t *testing.T, certificates, keys []byte) {
		read, err := aggregation.ParseAuthority(map[string][]byte{
			aggregation.CertificatesKey: certificates, aggregation.KeysKey: keys,
		})
		if err != nil || len(read.Bundle()) == 0 {
			return
		}
		written, err := read.Data()
		if err != nil {
			t.Fatal(err)
		}
		again, err := aggregation.ParseAuthority(written)
		if err != nil || !bytes.Equal(again.Bundle(), read.Bundle()) {
			t.Errorf("read %q, written and read again %q (%v)", read.Bundle(), again.Bundle(), err)
		}
	})
}

// Certificates that are given as files end, too.
func TestFilesHaveAnEnd(t *testing.T) {
	bundle, _, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tls.crt")
	if err = os.WriteFile(file, bundle, 0o600); err != nil {
		t.Fatal(err)
	}
	certificates, err := cert.ParseCertsPEM(bundle)
	if err != nil {
		t.Fatal(err)
	}
	end := func(c aggregation.ExpiryCollector) float64 {
		t.Helper()
		if testutil.CollectAndCount(c) != 1 {
			return 0
		}
		return testutil.ToFloat64(c)
	}
	want := float64(certificates[0].NotAfter.Unix())
	if got := end(aggregation.ExpiryCollector{ServingFile: file}); got != want {
		t.Errorf("the certificate ends at %v, want %v", got, want)
	}
	if got := end(aggregation.ExpiryCollector{ServingFile: file + ".none"}); got != 0 {
		t.Errorf("a file that is not there ends at %v", got)
	}
}
