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

// handlerChain is the library's DefaultBuildHandlerChain without the filters that do nothing here, and yet are a third of a
// request's CPU time: spans for a tracer that is never set, clocks around each filter, the sum of their times, and headers that no
// option of ours sets (CORS, HSTS, GOAWAY, Retry-After). All that authenticates, authorizes, audits, limits and recovers is here,
// in the library's order.
//
// A GET of an external metric, of the known selectors, runs in the goroutine of its connection's stream: another that could be
// left behind at the timeout costs a sixth of it. It waits for nothing but reviews, and these end with the deadline of its context,
// which it has like all others.
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

// growStack makes room for the whole chain before it is entered. A request has a goroutine of its own, whose stack is small: where it
// grows within the chain, all frames are copied and adjusted, an eighth of a request's CPU time.
//
//go:noinline
func growStack(at int) byte {
	var frame [9 << 10]byte // An index that the compiler does not know keeps it.
	return frame[at%len(frame)]
}

// proxyProof is when, and by which authorities and names, the certificate of a connection was found to be the front proxy's.
type proxyProof struct {
	at, until time.Time
	authority []byte
	names     []string
}

// proxyProofKey is the key of a connection's own *atomic.Pointer[proxyProof] in the contexts of its requests.
type proxyProofKey struct{}

// withProxyProof is the server's ConnContext.
func withProxyProof(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, proxyProofKey{}, new(atomic.Pointer[proxyProof]))
}

// frontProxy authenticates the kube-apiserver's requests on behalf of users as the library does, but verifies the certificate of
// a connection once, not for each of its requests: that alone took a sixth of the CPU time. The handshake has proven the key, and
// the certificate of a connection cannot change. It is verified again where the verdict could: when the authorities or the names
// that the cluster allows have changed, and when a certificate of the chain may have expired.
type frontProxy struct {
	config *authenticatorfactory.RequestHeaderConfig
	verify authenticator.Request // Whether the certificate is the front proxy's.
	user   authenticator.Request // Who the headers say it is.
	now    func() time.Time
	// next authenticates all other requests, and refuses those of an invalid certificate.
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
	// Read before the certificate is verified: newer ones are noticed at the next request.
	authority, names := f.config.CAContentProvider.CurrentCABundleContent(), f.config.AllowedClientNames.Value()
	p := own.Load()
	if p != nil && !now.Before(p.at) && now.Before(p.until) && bytes.Equal(p.authority, authority) &&
		slices.Equal(p.names, names) {
		return true
	}
	if _, ok, err := f.verify.AuthenticateRequest(r); !ok || err != nil {
		return false
	}
	// The authority's own certificate is in no list of the connection's: a minute bounds how long one that expires counts.
	until := now.Add(time.Minute)
	for _, certificate := range r.TLS.PeerCertificates {
		if certificate.NotAfter.Before(until) {
			until = certificate.NotAfter
		}
	}
	own.Store(&proxyProof{at: now, until: until, authority: authority, names: names})
	return true
}
