package aggregation

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"
)

// Keys of the Secret. One has the certificates in PEM with the newest first, the other has their private keys in the same order.
const (
	CertificatesKey = "ca.crt"
	KeysKey         = "ca.key"
)

const (
	// renewAt and signAt divide the lifetime of an authority's certificate. The next certificate is made when a third of the lifetime is left,
	// and it begins to sign when a sixth is left.
	renewAt, signAt = 3, 6
	// MinLifetimes is how many lifetimes of a leaf an authority lives at least, so that no leaf outlives the one that signed it.
	MinLifetimes = signAt
	// skew is the tolerated difference between two clocks.
	skew = 5 * time.Minute
	// maxCertificates limits how many certificates are read from a Secret.
	maxCertificates = 16
)

// signer is a certificate with its key.
type signer struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// made returns the time at which the certificate was created.
func (s signer) made() time.Time { return s.certificate.NotBefore.Add(skew) }

// left returns the time from which at most 1/part of the lifetime is left.
func (s signer) left(part int) time.Time {
	end := s.certificate.NotAfter
	return end.Add(-end.Sub(s.made()) / time.Duration(part))
}

// Authority signs certificates. The zero Authority has none of its own, and must be renewed.
type Authority struct {
	all []signer // the newest first
}

// ParseAuthority reads the data of the Secret; without any the Authority is empty. The error says what is wrong with it.
func ParseAuthority(data map[string][]byte) (*Authority, error) {
	if len(data[CertificatesKey]) == 0 && len(data[KeysKey]) == 0 {
		return &Authority{}, nil
	}
	certificates, err := decode(CertificatesKey, data[CertificatesKey], x509.ParseCertificate)
	if err != nil {
		return nil, err
	}
	keys, err := decode(KeysKey, data[KeysKey], x509.ParsePKCS8PrivateKey)
	if err != nil {
		return nil, err
	}
	if len(certificates) != len(keys) {
		return nil, fmt.Errorf(
			"the number of certificates in %s (%d) differs from the number of keys in %s (%d)",
			CertificatesKey,
			len(certificates),
			KeysKey,
			len(keys),
		)
	}
	out := &Authority{}
	for i, c := range certificates {
		key, ok := keys[i].(*ecdsa.PrivateKey)
		if !ok || !key.PublicKey.Equal(c.PublicKey) {
			return nil, fmt.Errorf("key %d of %s does not belong to certificate %d of %s", i+1, KeysKey, i+1,
				CertificatesKey)
		}
		if !c.IsCA {
			return nil, fmt.Errorf("certificate %d of %s is not the certificate of a certificate authority", i+1,
				CertificatesKey)
		}
		out.all = append(out.all, signer{certificate: c, key: key})
	}
	return out, nil
}

// decode reads every block of a PEM file.
func decode[T any](key string, text []byte, parse func([]byte) (T, error)) ([]T, error) {
	var out []T
	for rest := text; len(bytes.TrimSpace(rest)) > 0; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, fmt.Errorf("%s is not PEM", key)
		}
		one, err := parse(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("block %d of %s: %w", len(out)+1, key, err)
		}
		if out = append(out, one); len(out) > maxCertificates {
			return nil, fmt.Errorf("%s has more than %d blocks", key, maxCertificates)
		}
	}
	return out, nil
}

// Renew drops certificates that have ended, and adds one where the newest is near its end. changed is false where there is
// nothing to do.
func (a *Authority) Renew(now time.Time, lifetime time.Duration) (renewed *Authority, changed bool, err error) {
	out := &Authority{all: slices.Clone(a.all)}
	out.all = slices.DeleteFunc(out.all, func(s signer) bool { return !now.Before(s.certificate.NotAfter) })
	changed = len(out.all) < len(a.all)
	if len(out.all) > 0 && now.Before(out.all[0].left(renewAt)) {
		return out, changed, nil
	}
	next, err := newSigner(now, lifetime)
	if err != nil {
		return nil, false, err
	}
	out.all = slices.Insert(out.all, 0, next)
	return out, true, nil
}

func newSigner(now time.Time, lifetime time.Duration) (signer, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "forewarm"},
		NotBefore:             now.Add(-skew),
		NotAfter:              now.Add(lifetime),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
	}
	der, key, err := create(template, signer{certificate: template})
	if err != nil {
		return signer{}, fmt.Errorf("create a certificate authority: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return signer{}, fmt.Errorf("create a certificate authority: %w", err)
	}
	return signer{certificate: certificate, key: key}, nil
}

// create makes a key and a certificate that is signed by a signer. If the signer has no key, the certificate signs itself.
func create(template *x509.Certificate, by signer) (der []byte, key *ecdsa.PrivateKey, err error) {
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, nil, err
	}
	if by.key == nil {
		by.key = key
	}
	der, err = x509.CreateCertificate(rand.Reader, template, by.certificate, key.Public(), by.key)
	return der, key, err
}

// Bundle is every certificate in PEM, the newest first: what a client must trust.
func (a *Authority) Bundle() []byte {
	var out []byte
	for _, s := range a.all {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.certificate.Raw})...)
	}
	return out
}

// Data is the data of the Secret.
func (a *Authority) Data() (map[string][]byte, error) {
	var keys []byte
	for _, s := range a.all {
		text, err := encodeKey(s.key)
		if err != nil {
			return nil, err
		}
		keys = append(keys, text...)
	}
	return map[string][]byte{CertificatesKey: a.Bundle(), KeysKey: keys}, nil
}

func encodeKey(key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// NotAfter is when the newest certificate ends; zero if there is none.
func (a *Authority) NotAfter() time.Time {
	if len(a.all) == 0 {
		return time.Time{}
	}
	return a.all[0].certificate.NotAfter
}

// signer returns the certificate to sign with. This is the newest one, or the previous one as long as more than a sixth of its lifetime is
// left.
func (a *Authority) signer(now time.Time) (signer, error) {
	for i, s := range a.all {
		if i+1 < len(a.all) && now.Before(a.all[i+1].left(signAt)) {
			continue
		}
		if now.Before(s.certificate.NotAfter) {
			return s, nil
		}
	}
	return signer{}, errors.New("every certificate of the authority has expired: Forewarm's leader renews them")
}

// issued is a certificate with its key, in PEM.
type issued struct {
	certificate, key []byte
	// by is the certificate of the signer. The issued certificate is to be replaced at renewal and expires at notAfter.
	by                *x509.Certificate
	renewal, notAfter time.Time
}

// issue signs a certificate for a server or a client. hosts are DNS names or IP addresses, and the first one is the common name.
func (a *Authority) issue(
	now time.Time, lifetime time.Duration, usage x509.ExtKeyUsage, hosts ...string,
) (issued, error) {
	by, err := a.signer(now)
	if err != nil {
		return issued{}, err
	}
	end := now.Add(lifetime)
	if by.certificate.NotAfter.Before(end) {
		end = by.certificate.NotAfter
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: hosts[0]},
		NotBefore:   now.Add(-skew),
		NotAfter:    end,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}
	for _, host := range hosts {
		if address := net.ParseIP(host); address != nil {
			template.IPAddresses = append(template.IPAddresses, address)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, key, err := create(template, by)
	if err != nil {
		return issued{}, fmt.Errorf("sign a certificate: %w", err)
	}
	text, err := encodeKey(key)
	if err != nil {
		return issued{}, err
	}
	return issued{
		certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key: text,
		by: by.certificate, notAfter: end, renewal: end.Add(-end.Sub(now) / renewAt),
	}, nil
}
