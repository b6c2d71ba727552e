package apiserver_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"

	"github.com/forewarm/forewarm/pkg/serve/apiserver"
)

// authorities are those of the front proxy, and how often a certificate was verified by them.
type authorities struct {
	dynamiccertificates.CAContentProvider

	trusted  *x509.Certificate
	verified int
}

func (a *authorities) CurrentCABundleContent() []byte { return a.trusted.Raw }

func (a *authorities) VerifyOptions() (x509.VerifyOptions, bool) {
	a.verified++
	roots := x509.NewCertPool()
	roots.AddCert(a.trusted)
	return x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, true
}

// The certificate of a connection is verified once, and again whenever the verdict could be another.
func TestFrontProxyIsVerifiedOncePerConnection(t *testing.T) {
	own, other := leaf(t, ownCertificate(t, filepath.Join(t.TempDir(), "own"), "front-proxy")),
		leaf(t, ownCertificate(t, filepath.Join(t.TempDir(), "other"), "front-proxy"))
	trusted, names, now := &authorities{trusted: own}, headerrequest.StaticStringSlice{"front-proxy"}, time.Now()
	library := 0
	proxy := apiserver.NewFrontProxy(&authenticatorfactory.RequestHeaderConfig{
		CAContentProvider: trusted, UsernameHeaders: headerrequest.StaticStringSlice{"X-Remote-User"},
		UIDHeaders: headerrequest.StaticStringSlice{}, GroupHeaders: headerrequest.StaticStringSlice{},
		ExtraHeaderPrefixes: headerrequest.StaticStringSlice{},
		AllowedClientNames:  headerrequest.StringSliceProviderFunc(func() []string { return names }),
	}, func() time.Time { return now }, authenticator.RequestFunc(
		func(*http.Request) (*authenticator.Response, bool, error) { library++; return nil, false, nil }))
	first, second := apiserver.WithProxyProof(t.Context(), nil), apiserver.WithProxyProof(t.Context(), nil)
	for _, step := range []struct {
		name       string
		connection context.Context //nolint:containedctx // It is what is tested.
		shown      *x509.Certificate
		user       string
		change     func()
		verified   int
		proven     bool
	}{
		{name: "the first request is verified", connection: first, shown: own, user: "hpa", verified: 1, proven: true},
		{name: "the next is not", connection: first, shown: own, user: "hpa", proven: true},
		{name: "without a user it is the library's", connection: first, shown: own},
		{name: "another connection proves nothing by the first", connection: second, shown: other, user: "hpa", verified: 1},
		{name: "nor does it without a certificate", connection: second, user: "hpa"},
		{
			name: "after a minute it is verified again", connection: first, shown: own, user: "hpa", verified: 1, proven: true,
			change: func() { now = now.Add(time.Minute) },
		},
		{
			name: "and where the clock went back", connection: first, shown: own, user: "hpa", verified: 1, proven: true,
			change: func() { now = now.Add(-time.Second) },
		},
		{
			name: "the authority is another", connection: first, shown: own, user: "hpa", verified: 1,
			change: func() { trusted.trusted = other },
		},
		{
			name: "and the old one again", connection: first, shown: own, user: "hpa", proven: true,
			change: func() { trusted.trusted = own },
		},
		{
			name: "its name is not allowed any more", connection: first, shown: own, user: "hpa", verified: 1,
			change: func() { names = []string{"another"} },
		},
	} {
		if step.change != nil {
			step.change()
		}
		request := httptest.NewRequestWithContext(step.connection, http.MethodGet, "/", http.NoBody)
		request.TLS = &tls.ConnectionState{}
		if step.shown != nil {
			request.TLS.PeerCertificates = []*x509.Certificate{step.shown}
		}
		if step.user != "" {
			request.Header.Set("X-Remote-User", step.user)
		}
		trusted.verified, library = 0, 0
		who, ok, err := proxy.AuthenticateRequest(request)
		if err != nil || ok != step.proven || trusted.verified != step.verified || (library == 0) != step.proven {
			t.Errorf("%s: authenticated %t, verified %d times, asked the library %d times, %v",
				step.name, ok, trusted.verified, library, err)
		}
		if ok && who.User.GetName() != step.user {
			t.Errorf("%s: is %s", step.name, who.User.GetName())
		}
	}
}

func leaf(t *testing.T, certificate tls.Certificate) *x509.Certificate {
	t.Helper()
	out, err := x509.ParseCertificate(certificate.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return out
}
