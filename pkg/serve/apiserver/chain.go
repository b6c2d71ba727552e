package apiserver

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/apiserver/pkg/authentication/request/x509"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/filters/impersonation"
	"k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverfilters "k8s.io/apiserver/pkg/server/filters"
)

// handlerChain returns the library's DefaultBuildHandlerChain without the filters that do nothing here, but take a third of a request's CPU
// time: spans for a tracer that is never set, time measurements around each filter and their sum, and headers for options that Forewarm
// never sets (CORS, HSTS, GOAWAY, Retry-After). All filters that authenticate, authorize, audit, limit and recover are here, in the
// library's order.
//
// A GET of an external metric with a cached selector runs in the goroutine of its stream. A second goroutine, which could be left behind at
// the timeout, would cost a sixth of the CPU time. Such a request waits only for reviews, and these end with the deadline of its context.
func handlerChain(api http.Handler, known selectors, c *genericapiserver.Config) http.Handler {
	together := func(r *http.Request, info *request.RequestInfo) bool {
		_, external := known.plain(r, info)
		return external || c.LongRunningFunc(r, info)
	}
	failed := filters.WithFailedAuthenticationAudit(filters.Unauthorized(c.Serializer), c.AuditBackend,
		c.AuditPolicyRuleEvaluator)
	h := filters.WithAuthorization(api, c.Authorization.Authorizer, c.Serializer)
	h = serverfilters.WithMaxInFlightLimit(h, c.MaxRequestsInFlight, c.MaxMutatingRequestsInFlight, c.LongRunningFunc)
	h = impersonation.WithConstrainedImpersonation(h, c.Authorization.Authorizer, c.Serializer)
	h = filters.WithAudit(h, c.AuditBackend, c.AuditPolicyRuleEvaluator, c.LongRunningFunc)
	h = filters.WithAuthentication(h, c.Authentication.Authenticator, failed, c.Authentication.APIAudiences,
		c.Authentication.RequestHeaderConfig)
	h = filters.WithWarningRecorder(h)
	h = serverfilters.WithTimeoutForNonLongRunningRequests(h, together)
	h = filters.WithRequestDeadline(h, c.AuditBackend, c.AuditPolicyRuleEvaluator, c.LongRunningFunc, c.Serializer,
		c.RequestTimeout)
	h = serverfilters.WithWaitGroup(h, c.LongRunningFunc, c.NonLongRunningRequestWaitGroup)
	h = filters.WithCacheControl(h)
	h = serverfilters.WithHTTPLogging(h)
	h = filters.WithRequestInfo(h, c.RequestInfoResolver)
	h = filters.WithRequestReceivedTimestamp(h)
	h = serverfilters.WithPanicRecovery(h, c.RequestInfoResolver)
	return filters.WithAuditInit(h)
}

// growStack grows the stack to the size that the whole chain needs, before the chain is entered. Each request has its own goroutine with a
// small stack. If the stack grew within the chain, all frames would be copied and adjusted, which took an eighth of a request's CPU time.
//
//go:noinline
func growStack(at int) byte {
	var frame [9 << 10]byte // An unknown index keeps the compiler from removing it.
	return frame[at%len(frame)]
}

// proxyProof records when the certificate of a connection was verified as the front proxy's, and with which authorities and names.
type proxyProof struct {
	at, until time.Time
	authority []byte
	names     []string
}

// proxyProofKey is the key of a connection's *atomic.Pointer[proxyProof] in the contexts of its requests.
type proxyProofKey struct{}

// withProxyProof is the server's ConnContext function.
func withProxyProof(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, proxyProofKey{}, new(atomic.Pointer[proxyProof]))
}

// frontProxy authenticates requests that the kube-apiserver sends on behalf of users, in the same way as the library. However, it verifies
// the certificate once for each connection and not for each request, because the verification took a sixth of the CPU time. The handshake
// has proven possession of the key, and the certificate of a connection cannot change. The certificate is verified again when the result
// could be different: after the cluster's authorities or allowed names have changed, and when a certificate of the chain may have expired.
type frontProxy struct {
	config *authenticatorfactory.RequestHeaderConfig
	verify authenticator.Request // Reports whether the certificate is the front proxy's.
	user   authenticator.Request // Reads the user from the headers.
	now    func() time.Time
	// next authenticates all other requests, and rejects requests with an invalid certificate.
	next authenticator.Request
}

func newFrontProxy(
	config *authenticatorfactory.RequestHeaderConfig,
	now func() time.Time,
	next authenticator.Request,
) frontProxy {
	anybody := authenticator.RequestFunc(
		func(*http.Request) (*authenticator.Response, bool, error) { return nil, true, nil },
	)
	return frontProxy{
		config: config, next: next, now: now,
		verify: x509.NewDynamicCAVerifier(config.CAContentProvider.VerifyOptions, anybody, config.AllowedClientNames),
		user: group.NewAuthenticatedGroupAdder(headerrequest.NewDynamic(config.UsernameHeaders, config.UIDHeaders,
			config.GroupHeaders, config.ExtraHeaderPrefixes)),
	}
}

// AuthenticateRequest implements authenticator.Request.
func (f frontProxy) AuthenticateRequest(r *http.Request) (*authenticator.Response, bool, error) {
	if f.proven(r) {
		if who, ok, err := f.user.AuthenticateRequest(r); ok || err != nil {
			return who, ok, err
		}
	}
	return f.next.AuthenticateRequest(r)
}

func (f frontProxy) proven(r *http.Request) bool {
	own, ok := r.Context().Value(proxyProofKey{}).(*atomic.Pointer[proxyProof])
	if !ok || r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return false
	}
	now := f.now()
	// These are read before the certificate is verified, so that a newer version is noticed at the next request.
	authority, names := f.config.CAContentProvider.CurrentCABundleContent(), f.config.AllowedClientNames.Value()
	p := own.Load()
	if p != nil && !now.Before(p.at) && now.Before(p.until) && bytes.Equal(p.authority, authority) &&
		slices.Equal(p.names, names) {
		return true
	}
	if _, ok, err := f.verify.AuthenticateRequest(r); !ok || err != nil {
		return false
	}
	// The connection does not contain the authority's own certificate. If that expires, it is trusted for at most one more minute.
	until := now.Add(time.Minute)
	for _, certificate := range r.TLS.PeerCertificates {
		if certificate.NotAfter.Before(until) {
			until = certificate.NotAfter
		}
	}
	own.Store(&proxyProof{at: now, until: until, authority: authority, names: names})
	return true
}
