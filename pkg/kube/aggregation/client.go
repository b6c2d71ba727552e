package aggregation

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/run"
)

// Keys of a client's Secret. The certificates of the authority are under CertificatesKey.
const (
	clientCertificateKey = core.TLSCertKey
	clientKeyKey         = core.TLSPrivateKeyKey
)

// KeepClient keeps a client certificate, and the certificates by which the client verifies Forewarm, in a Secret until the
// context ends. The manifests create it, empty. Only the leader should call it.
func (s *Secret) KeepClient(ctx context.Context, clock run.Clock, namespace, name string, lifetime time.Duration) {
	changed, said := changes.NewSignal(), ""
	s.Subscribe(ctx, changed)
	for ctx.Err() == nil {
		err := s.renewClient(ctx, clock.Now(), namespace, name, lifetime)
		if err != nil && ctx.Err() == nil && said != err.Error() {
			said = err.Error()
			s.log.ErrorContext(ctx, "cannot renew the client certificate, retrying", "error", err)
		}
		changed.Wait(ctx, clock, clock.Now().Add(min(lifetime/(4*renewAt), time.Minute)))
	}
}

func (s *Secret) renewClient(ctx context.Context, now time.Time, namespace, name string, lifetime time.Duration) error {
	authority := s.known()
	if authority == nil {
		return nil // The certificate is renewed once the authority is known.
	}
	by, err := authority.signer(now)
	if err != nil {
		return err
	}
	secrets := s.client.CoreV1().Secrets(namespace)
	secret, err := secrets.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf(
			"the Secret %s/%s for a client of Forewarm does not exist: set keda.enabled in the chart, or "+
				"apply deploy/with-keda-scaler", namespace, name)
	case err != nil:
		return fmt.Errorf("read the Secret %s/%s: set keda.enabled in the chart, or apply deploy/with-keda-scaler: %w",
			namespace, name, err)
	}
	bundle := authority.Bundle()
	if bytes.Equal(secret.Data[CertificatesKey], bundle) && fresh(secret.Data[clientCertificateKey], by, now) {
		return nil
	}
	client, err := authority.issue(now, lifetime, x509.ExtKeyUsageClientAuth, "forewarm-client")
	if err != nil {
		return err
	}
	secret.Data = map[string][]byte{
		clientCertificateKey: client.certificate, clientKeyKey: client.key, CertificatesKey: bundle,
	}
	_, err = secrets.Update(ctx, secret, metav1.UpdateOptions{})
	switch {
	case apierrors.IsConflict(err):
		return nil // The next attempt reads the Secret again.
	case err != nil:
		return fmt.Errorf("write the Secret %s/%s: set keda.enabled in the chart, or apply deploy/with-keda-scaler: %w",
			namespace, name, err)
	}
	s.log.InfoContext(ctx, "signed a client certificate", "secret", namespace+"/"+name,
		"until", client.notAfter.UTC().Format(time.RFC3339))
	return nil
}

// fresh reports whether a signer issued a certificate, and more than a third of the certificate's lifetime is left.
func fresh(text []byte, by signer, now time.Time) bool {
	block, _ := pem.Decode(text)
	if block == nil {
		return false
	}
	one, err := x509.ParseCertificate(block.Bytes)
	if err != nil || one.CheckSignatureFrom(by.certificate) != nil {
		return false
	}
	return now.Before(signer{certificate: one}.left(renewAt))
}
