package aggregation

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/kube/informer"
	"github.com/forewarm/forewarm/pkg/run"
)

// Secret is the Secret that holds the authority. The manifests create it, empty, so that no right to create Secrets is needed.
// It is safe for concurrent use.
type Secret struct {
	namespace, name string
	client          kubernetes.Interface
	watch           *informer.Watch[core.Secret]
	log             *slog.Logger

	mu        sync.Mutex
	authority *Authority
	err       error // Why there is no authority.

	// Feed notifies subscribers when the authority changes.
	changes.Feed
}

var (
	_ dynamiccertificates.CAContentProvider = (*Secret)(nil)
	_ dynamiccertificates.Notifier          = (*Secret)(nil)
)

// NewSecret returns a Secret of a cluster. It sends no requests before Run.
func NewSecret(cluster *rest.Config, namespace, name string, log *slog.Logger) (*Secret, error) {
	client, err := kubernetes.NewForConfig(cluster)
	if err != nil {
		return nil, fmt.Errorf("create a client for the Secret %s/%s: %w", namespace, name, err)
	}
	return newSecret(client, namespace, name, log), nil
}

func newSecret(client kubernetes.Interface, namespace, name string, log *slog.Logger) *Secret {
	s := &Secret{namespace: namespace, name: name, client: client, log: log}
	s.err = s.advise("has not been read yet", "")
	only := fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	source := informer.From(client.CoreV1().Secrets(namespace), client, only)
	asItIs := func(secret *core.Secret) *core.Secret { return secret }
	s.watch = informer.New(source, asItIs, informer.Config[core.Secret]{
		Name:    "Secret " + s.Name(),
		Changed: func(_, secret *core.Secret) { s.observe(secret) },
		Listed: func() {
			if len(s.watch.List()) == 0 && s.known() == nil {
				s.set(nil, s.missing())
			}
		},
		Failed: s.watchFailed,
	})
	return s
}

// Run watches the Secret until the context ends. A replica that may not read it keeps trying.
func (s *Secret) Run(ctx context.Context) error {
	return s.watch.Run(ctx)
}

// Authority is what the Secret holds; the error says why it is unknown, and what to do.
func (s *Secret) Authority() (*Authority, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.authority, s.err
}

// known returns the authority, or nil while it is unknown.
func (s *Secret) known() *Authority {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.authority
}

// Name implements dynamiccertificates.CAContentProvider.
func (s *Secret) Name() string { return s.namespace + "/" + s.name }

// CurrentCABundleContent implements dynamiccertificates.CAContentProvider: empty while the authority is unknown.
func (s *Secret) CurrentCABundleContent() []byte {
	if known := s.known(); known != nil {
		return known.Bundle()
	}
	return nil
}

// VerifyOptions implements dynamiccertificates.CAContentProvider; ok is false while the authority is unknown.
func (s *Secret) VerifyOptions() (options x509.VerifyOptions, ok bool) {
	roots := x509.NewCertPool()
	ok = roots.AppendCertsFromPEM(s.CurrentCABundleContent())
	return x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, ok
}

// advise returns an error that says what is wrong with the Secret and what to do.
func (s *Secret) advise(what, do string) error {
	text := fmt.Sprintf("the Secret %s/%s with the certificate authority %s", s.namespace, s.name, what)
	if do != "" {
		text += ": " + do
	}
	return errors.New(text)
}

func (s *Secret) missing() error {
	return s.advise("does not exist", "apply Forewarm's manifests, or set --tls-cert-file and --tls-private-key-file")
}

// watchFailed records an error of the watch. It keeps the known authority, because a certificate outlives an outage.
func (s *Secret) watchFailed(ctx context.Context, problem *informer.ReadError) {
	do := "Forewarm tries again"
	err := problem.Cause
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		do = "apply deploy/default, or upgrade the chart"
	}
	if s.known() != nil {
		return
	}
	s.log.WarnContext(ctx, "cannot read the Secret with the certificate authority", "error", err)
	s.set(nil, s.advise(fmt.Sprintf("cannot be read (%.300s)", err), do))
}

// observe reads the authority in the Secret; nil means that the Secret was deleted. If the Secret has no valid authority, the previous one
// stays.
func (s *Secret) observe(secret *core.Secret) {
	if secret == nil {
		s.set(nil, s.missing())
		return
	}
	authority, err := ParseAuthority(secret.Data)
	if err != nil {
		s.set(nil, s.unreadable(err))
		return
	}
	if len(authority.all) == 0 {
		s.set(nil, s.advise("is empty", "Forewarm fills it within seconds"))
		return
	}
	s.set(authority, nil)
}

func (s *Secret) unreadable(err error) error {
	return s.advise("was changed by someone else ("+err.Error()+")",
		"restore it, or remove its data: Forewarm writes it again")
}

// set replaces the authority. If there is no new one, the known authority stays, because it can still sign.
func (s *Secret) set(authority *Authority, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if authority == nil && s.authority != nil {
		s.log.Error("the Secret has no valid certificate authority, so Forewarm keeps the previous one", "error", err)
	} else {
		s.authority, s.err = authority, err
	}
	s.Notify()
}

// Fill writes the authority that this replica knows into a Secret that was emptied, and makes one if the Secret stays empty,
// until the context ends. Every replica may: the first to write it wins. (The leader alone would not do: in a rolling update it
// may be of a version without an authority, and stay until others are ready.)
func (s *Secret) Fill(ctx context.Context, clock run.Clock, lifetime time.Duration) {
	changed := changes.NewSignal()
	s.Subscribe(ctx, changed)
	var since time.Time // Since when the Secret is empty.
	for ctx.Err() == nil {
		now := clock.Now()
		switch {
		case !s.isEmpty():
			since = time.Time{}
		case since.IsZero():
			since = now
		}
		if !since.IsZero() && (s.known() != nil || !now.Before(since.Add(fillAfter))) {
			s.keep(ctx, now, lifetime)
		}
		changed.Wait(ctx, clock, now.Add(fillAfter))
	}
}

// fillAfter is how long a Secret must be empty before a replica that knows no authority makes a new one. Another replica may know the
// authority.
const fillAfter = 10 * time.Second

// isEmpty reports whether the Secret was read and is empty.
func (s *Secret) isEmpty() bool {
	for _, secret := range s.watch.List() {
		return len(secret.Data[CertificatesKey])+len(secret.Data[KeysKey]) == 0
	}
	return false
}

// Keep renews the authority until the context ends. Only the leader should call it.
func (s *Secret) Keep(ctx context.Context, clock run.Clock, lifetime time.Duration) {
	changed := changes.NewSignal()
	s.Subscribe(ctx, changed)
	for ctx.Err() == nil {
		s.keep(ctx, clock.Now(), lifetime)
		changed.Wait(ctx, clock, clock.Now().Add(min(lifetime/(10*signAt), time.Hour)))
	}
}

func (s *Secret) keep(ctx context.Context, now time.Time, lifetime time.Duration) {
	if err := s.renew(ctx, now, lifetime); err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) {
		s.log.ErrorContext(ctx, "cannot renew the certificate authority, retrying", "error", err)
	}
}

// renew reads the newest Secret and writes a renewed authority into it. If another replica has changed the Secret, the write fails with a
// conflict, and the next attempt reads the change.
func (s *Secret) renew(ctx context.Context, now time.Time, lifetime time.Duration) error {
	secrets := s.client.CoreV1().Secrets(s.namespace)
	secret, err := secrets.Get(ctx, s.name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return s.missing()
	case err != nil:
		return s.advise(fmt.Sprintf("cannot be read (%.300s)", err), "apply deploy/default, or upgrade the chart")
	}
	authority, err := ParseAuthority(secret.Data)
	if err != nil {
		return s.unreadable(err)
	}
	if known := s.known(); known != nil && len(authority.all) == 0 {
		authority, secret.Data = known, nil // Someone emptied the Secret. Others still use its previous content.
	}
	renewed, changed, err := authority.Renew(now, lifetime)
	if err != nil || !changed && secret.Data != nil {
		return err
	}
	if secret.Data, err = renewed.Data(); err != nil {
		return err
	}
	_, err = secrets.Update(ctx, secret, metav1.UpdateOptions{})
	switch {
	case apierrors.IsConflict(err):
		return err // Another replica wrote the Secret. The watch delivers the content.
	case err != nil:
		return s.advise(fmt.Sprintf("cannot be written (%.300s)", err), "apply deploy/default, or upgrade the chart")
	}
	s.log.InfoContext(ctx, "renewed the certificate authority", "certificates", len(renewed.all),
		"until", renewed.NotAfter().UTC().Format(time.RFC3339))
	return nil
}
