package aggregation

import (
	"crypto/x509"
	"log/slog"
	"time"

	"k8s.io/client-go/kubernetes"
)

// Issue signs a serving certificate for a name and returns it in PEM.
func (a *Authority) Issue(now time.Time, lifetime time.Duration, name string) ([]byte, error) {
	out, err := a.issue(now, lifetime, x509.ExtKeyUsageServerAuth, name)
	return out.certificate, err
}

// NewSecretOf is NewSecret with a client.
func NewSecretOf(client kubernetes.Interface, namespace, name string, log *slog.Logger) (*Secret, error) {
	return newSecret(client, namespace, name, log), nil
}
