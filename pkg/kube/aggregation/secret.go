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
	err       error // why there is none

	// Feed notifies of changes of the authority.
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

// known is the authority, nil while it is unknown.
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

// advise is an error about the Secret.
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

// watchFailed keeps what is known: a certificate outlives an outage.
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

// observe takes the Secret's content; nil where it is gone. Where it is no authority, the one before stays.
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

// set keeps a known authority where there is no other: it still signs.
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
	var since time.Time // it is empty
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

// fillAfter is how long a Secret is empty before a replica that knows no authority makes one: another may know it.
const fillAfter = 10 * time.Second

// isEmpty reports that the Secret was read, and holds nothing.
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

// renew reads the newest Secret and writes a renewed authority into it. Another writer's change is a conflict, and is read the
// next time.
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
		authority, secret.Data = known, nil // Someone emptied the Secret: replicas and kube-apiservers use what was in it.
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
		return err // Another replica wrote it: the watch has what.
	case err != nil:
		return s.advise(fmt.Sprintf("cannot be written (%.300s)", err), "apply deploy/default, or upgrade the chart")
	}
	s.log.InfoContext(ctx, "renewed the certificate authority", "certificates", len(renewed.all),
		"until", renewed.NotAfter().UTC().Format(time.RFC3339))
	return nil
}
