package aggregation_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/forewarm/forewarm/pkg/kube/aggregation"
)

const (
	system = "forewarm-system"
	caName = "forewarm-ca"
)

// clock stands at a time, and waits for the context only.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (*clock) WaitUntil(ctx context.Context, _ time.Time) error {
	select {
	case <-time.After(20 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *clock) set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// replica is a Secret's watcher and a leaf, as a process has them.
type replica struct {
	secret *aggregation.Secret
	leaf   *aggregation.Leaf
}

// newReplica starts the watch; the leader also renews.
func newReplica(t *testing.T, client kubernetes.Interface, at *clock, leads bool) replica {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	secret, err := aggregation.NewSecretOf(client, system, caName, quiet)
	if err != nil {
		t.Fatal(err)
	}
	own, err := aggregation.NewLeaf(secret, leaf, at.Now(), quiet, host)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { stop(); running.Wait() })
	for _, work := range []func() error{
		func() error { return secret.Run(ctx) },
		func() error { return own.Run(ctx, at) },
	} {
		running.Go(func() {
			if err := work(); err != nil {
				t.Error(err)
			}
		})
	}
	running.Go(func() { secret.Fill(ctx, at, lifetime) })
	if leads {
		running.Go(func() { secret.Keep(ctx, at, lifetime) })
	}
	return replica{secret: secret, leaf: own}
}

func eventually(t *testing.T, wrong func() string) {
	t.Helper()
	said := ""
	for range 500 {
		if said = wrong(); said == "" {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal(said)
}

func empty() *core.Secret {
	return &core.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: caName}}
}

func ready(at *clock, r replica) func() string {
	return func() string {
		if err := r.leaf.Check(at.Now()); err != nil {
			return err.Error()
		}
		return ""
	}
}

// The leader fills the empty Secret; each replica signs for itself, and again after a year, and all are verified by one bundle.
func TestReplicasSignForThemselves(t *testing.T) {
	client, at := fake.NewClientset(empty()), &clock{now: start}
	replicas := []replica{newReplica(t, client, at, true), newReplica(t, client, at, false)}
	var firsts []string
	for _, r := range replicas {
		eventually(t, ready(at, r))
		certificate, _ := r.leaf.CurrentCertKeyContent()
		firsts = append(firsts, string(certificate))
	}
	if firsts[0] == firsts[1] {
		t.Error("both replicas serve with one certificate")
	}
	for year := range 3 {
		// Its parts are a third and a sixth before the end.
		for part := range 12 {
			at.set(start.Add(time.Duration(year)*lifetime + time.Duration(part)*lifetime/12))
			for i, r := range replicas {
				eventually(t, func() string {
					known, err := r.secret.Authority()
					if err != nil {
						return err.Error()
					}
					certificate, _ := r.leaf.CurrentCertKeyContent()
					if err := verify(at.Now(), certificate, known.Bundle()); err != nil {
						return err.Error()
					}
					return ready(at, r)()
				})
				if end := r.leaf.NotAfter(); end.Sub(at.Now()) > leaf || !end.After(at.Now()) {
					t.Errorf("year %d: replica %d's certificate ends at %s, now %s", year, i, end, at.Now())
				}
			}
		}
	}
}

// A Secret that someone edits changes nothing for those that know it; a new replica says what to do.
func TestEditedSecretIsKept(t *testing.T) {
	client, at := fake.NewClientset(empty()), &clock{now: start}
	r := newReplica(t, client, at, true)
	eventually(t, ready(at, r))
	before, err := r.secret.Authority()
	if err != nil {
		t.Fatal(err)
	}
	write := func(data map[string][]byte) {
		secret := empty()
		secret.Data = data
		if _, err := client.CoreV1().Secrets(system).Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	write(map[string][]byte{aggregation.CertificatesKey: []byte("mine"), aggregation.KeysKey: []byte("mine")})
	young := newReplica(t, client, at, false)
	eventually(t, func() string {
		if err := young.leaf.Check(at.Now()); err == nil ||
			!strings.Contains(err.Error(), "restore it, or remove its data") {
			return "a new replica says: " + errorText(err)
		}
		return ""
	})
	at.set(start.Add(3 * leaf))
	eventually(t, func() string {
		certificate, _ := r.leaf.CurrentCertKeyContent()
		if err := verify(at.Now(), certificate, before.Bundle()); err != nil {
			return err.Error()
		}
		return ready(at, r)()
	})
	write(nil) // Emptied: the leader writes what everybody uses.
	eventually(t, ready(at, young))
	if after, err := young.secret.Authority(); err != nil || !bytes.Equal(after.Bundle(), before.Bundle()) {
		t.Errorf("the Secret holds another authority than before (%v)", err)
	}
}

// KEDA's certificate is signed by the authority, is for clients only, and is renewed; Forewarm's own is none for clients.
func TestClientCertificate(t *testing.T) {
	client, at := fake.NewClientset(empty()), &clock{now: start}
	r := newReplica(t, client, at, true)
	running := make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		defer close(running)
		r.secret.KeepClient(ctx, at, "keda", "forewarm-client", lifetime/aggregation.MinLifetimes)
	}()
	defer func() { stop(); <-running }()
	eventually(t, ready(at, r))
	own := &core.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "keda", Name: "forewarm-client"}}
	if _, err := client.CoreV1().Secrets("keda").Create(t.Context(), own, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	verified := func() string {
		secret, err := client.CoreV1().Secrets("keda").Get(t.Context(), "forewarm-client", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		options, ok := r.secret.VerifyOptions()
		options.CurrentTime = at.Now()
		block, _ := pem.Decode(secret.Data["tls.crt"])
		if !ok || block == nil || !bytes.Equal(secret.Data["ca.crt"], r.secret.CurrentCABundleContent()) {
			return "the client has no certificate, or verifies by another authority"
		}
		one, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return err.Error()
		}
		if _, err = one.Verify(options); err != nil {
			return err.Error()
		}
		options.DNSName, options.KeyUsages = host, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		if _, err = one.Verify(options); err == nil {
			t.Error("the client's certificate is good for a server")
		}
		return ""
	}
	for month := range 36 {
		at.set(start.Add(time.Duration(month) * lifetime / 12))
		eventually(t, verified)
	}
	options, _ := r.secret.VerifyOptions()
	options.CurrentTime = at.Now()
	certificate, _ := r.leaf.CurrentCertKeyContent()
	block, _ := pem.Decode(certificate)
	if one, err := x509.ParseCertificate(block.Bytes); err != nil {
		t.Error(err)
	} else if _, err = one.Verify(options); err == nil {
		t.Error("the server's certificate is good for a client")
	}
}

func errorText(err error) string {
	if err == nil {
		return "nothing"
	}
	return err.Error()
}

// Without a leader that knows of authorities the Secret is filled by another replica, but not at once.
func TestFilledWithoutALeader(t *testing.T) {
	client, at := fake.NewClientset(empty()), &clock{now: start}
	r := newReplica(t, client, at, false)
	eventually(t, func() string {
		if err := r.leaf.Check(at.Now()); err == nil || !strings.Contains(err.Error(), "is empty: Forewarm fills it") {
			return "it says: " + errorText(err)
		}
		return ""
	})
	time.Sleep(100 * time.Millisecond)
	if _, err := r.secret.Authority(); err == nil {
		t.Error("an authority was made at once, which another replica may know")
	}
	at.set(start.Add(time.Minute))
	eventually(t, ready(at, r))
}

// Without the Secret nothing is ready, and the error says what to do.
func TestMissingSecret(t *testing.T) {
	client, at := fake.NewClientset(), &clock{now: start}
	r := newReplica(t, client, at, true)
	eventually(t, func() string {
		if err := r.leaf.Check(at.Now()); err == nil ||
			!strings.Contains(err.Error(), "does not exist: apply Forewarm's manifests") {
			return "it says: " + errorText(err)
		}
		return ""
	})
	if _, err := client.CoreV1().Secrets(system).Create(t.Context(), empty(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, ready(at, r))
}
