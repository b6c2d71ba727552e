package aggregation

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/util/cert"

	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/run"
)

// Leaf is the serving certificate of this replica. Until the authority is known, the certificate is signed by a temporary authority,
// so that the port can be opened. No client trusts the temporary authority.
type Leaf struct {
	hosts    []string
	lifetime time.Duration
	secret   *Secret
	log      *slog.Logger

	mu       sync.Mutex
	current  issued
	verified bool // The authority in the Secret signed it.

	// Feed notifies of a new certificate.
	changes.Feed
}

var (
	_ dynamiccertificates.CertKeyContentProvider = (*Leaf)(nil)
	_ dynamiccertificates.Notifier               = (*Leaf)(nil)
)

// NewLeaf returns a certificate for hosts, DNS names or addresses.
func NewLeaf(secret *Secret, lifetime time.Duration, now time.Time, log *slog.Logger, hosts ...string) (*Leaf, error) {
	temporary, _, err := (&Authority{}).Renew(now, MinLifetimes*lifetime)
	if err != nil {
		return nil, err
	}
	l := &Leaf{hosts: hosts, lifetime: lifetime, secret: secret, log: log}
	l.current, err = temporary.issue(now, lifetime, x509.ExtKeyUsageServerAuth, hosts...)
	return l, err
}

// Name implements dynamiccertificates.CertKeyContentProvider.
func (*Leaf) Name() string { return "forewarm's own authority" }

// CurrentCertKeyContent implements dynamiccertificates.CertKeyContentProvider.
func (l *Leaf) CurrentCertKeyContent() (certificate, key []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current.certificate, l.current.key
}

// Check returns nil while the certificate is signed by the authority in the Secret and has not expired.
func (l *Leaf) Check(now time.Time) error {
	l.mu.Lock()
	verified, end := l.verified, l.current.notAfter
	l.mu.Unlock()
	if verified && now.Before(end) {
		return nil
	}
	if _, err := l.secret.Authority(); err != nil {
		return err
	}
	if verified {
		return fmt.Errorf("the serving certificate expired at %s", end.UTC().Format(time.RFC3339))
	}
	return errors.New("the certificate authority is not known yet")
}

// NotAfter is when the certificate expires. It is zero until an authority has signed the certificate.
func (l *Leaf) NotAfter() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.verified {
		return time.Time{}
	}
	return l.current.notAfter
}

// Run signs a certificate when the authority is known or signs by another certificate, and before the certificate ends, until
// the context ends.
func (l *Leaf) Run(ctx context.Context, clock run.Clock) error {
	changed := changes.NewSignal()
	l.secret.Subscribe(ctx, changed)
	for ctx.Err() == nil {
		next, err := l.refresh(clock.Now())
		if err != nil {
			l.log.ErrorContext(
				ctx,
				"cannot sign a new serving certificate, so the old one remains in use",
				"error",
				err,
			)
		}
		changed.Wait(ctx, clock, next)
	}
	return nil
}

// refresh signs a certificate if that is due, and returns when to look again.
func (l *Leaf) refresh(now time.Time) (next time.Time, err error) {
	again := now.Add(l.lifetime / (4 * renewAt))
	authority, err := l.secret.Authority()
	if err != nil {
		return again, nil //nolint:nilerr // Its watcher logs the error, and Check has it.
	}
	by, err := authority.signer(now)
	if err != nil {
		return again, err
	}
	l.mu.Lock()
	due := !l.verified || !now.Before(l.current.renewal) || !bytes.Equal(l.current.by.Raw, by.certificate.Raw)
	l.mu.Unlock()
	if !due {
		return again, nil
	}
	current, err := authority.issue(now, l.lifetime, x509.ExtKeyUsageServerAuth, l.hosts...)
	if err != nil {
		return again, err
	}
	l.mu.Lock()
	l.current, l.verified = current, true
	l.mu.Unlock()
	l.Notify()
	l.log.Info("signed a serving certificate", "until", current.notAfter.UTC().Format(time.RFC3339))
	return again, nil
}

// ExpiryCollector measures when this replica's certificate, and the authority's, end: those of a Secret or, where Secret is nil, those in
// files, which are read at each scrape.
type ExpiryCollector struct {
	Secret *Secret
	Leaf   *Leaf
	// ServingFile and AuthorityFile are PEM files; empty where there is none.
	ServingFile, AuthorityFile string
}

var _ prometheus.Collector = ExpiryCollector{}

var expiryDesc = prometheus.NewDesc( //nolint:gochecknoglobals // A constant.
	"forewarm_certificate_expiry_timestamp_seconds",
	"When a certificate expires: the certificate of this replica's server (serving), or the newest certificate of its authority "+
		"(authority). Absent for a certificate file that cannot be read.",
	[]string{"certificate"},
	nil,
)

// Describe implements prometheus.Collector.
func (ExpiryCollector) Describe(out chan<- *prometheus.Desc) { out <- expiryDesc }

// Collect sends a gauge for each; none while it is unknown.
func (c ExpiryCollector) Collect(out chan<- prometheus.Metric) {
	send := func(certificate string, end time.Time) {
		if !end.IsZero() {
			out <- prometheus.MustNewConstMetric(expiryDesc, prometheus.GaugeValue, float64(end.Unix()), certificate)
		}
	}
	if c.Secret == nil {
		send("serving", endOf(c.ServingFile))
		send("authority", endOf(c.AuthorityFile))
		return
	}
	send("serving", c.Leaf.NotAfter())
	if known := c.Secret.known(); known != nil {
		send("authority", known.NotAfter())
	}
}

// endOf returns when the first certificate in a file expires, which is the server's own. The result is zero if it cannot be read.
func endOf(file string) time.Time {
	if file == "" {
		return time.Time{}
	}
	found, err := cert.CertsFromFile(file)
	if err != nil {
		return time.Time{}
	}
	return found[0].NotAfter
}
