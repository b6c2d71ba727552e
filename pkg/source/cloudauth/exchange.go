package cloudauth

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"sync/atomic"
	"time"

	"cloud.google.com/go/compute/metadata"
)

// maxAnswer limits how many bytes of an endpoint's answer are read; answers have a few KiB.
const maxAnswer = 256 << 10

// exchange sends requests for tokens. It follows no redirect, because the requests have credentials. It keeps why the last
// request failed: the libraries of the clouds report this each in its own way, and some repeat the answer with the secret.
type exchange struct {
	next    *http.Transport
	limit   time.Duration
	failure atomic.Pointer[string]
}

func newExchange(limit time.Duration) *exchange {
	next := &http.Transport{
		Proxy: proxy, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: time.Minute,
	}
	return &exchange{next: next, limit: limit}
}

// proxy is the proxy of the environment, but not for plain HTTP: those are the endpoints of the node, which no proxy can reach, and a proxy
// would see the token of the pod.
func proxy(req *http.Request) (*url.URL, error) {
	if req.URL.Scheme == "http" {
		return nil, nil //nolint:nilnil // That is how a transport is told to use no proxy.
	}
	return http.ProxyFromEnvironment(req)
}

func (e *exchange) client() *http.Client { return &http.Client{Transport: e, Timeout: e.limit} }

// htmlPage matches the beginning of a page for browsers. AWS' answers are XML.
var htmlPage = regexp.MustCompile(`^\s*<(!|(?i:html|head|body))`)

// RoundTrip implements http.RoundTripper.
func (e *exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	// It ends a little before the request that waits for it, so that the reason is known then.
	ctx, cancel := context.WithTimeout(req.Context(), e.limit-e.limit/10)
	defer cancel()
	resp, err := e.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, e.failed(req, reason(ctx, err))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, e.failed(req, reason(ctx, err))
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	skew := clockSkew(resp.Header)
	switch {
	case resp.StatusCode/100 == 3:
		return nil, e.failed(req, "redirects to another address, to which no credentials are sent")
	case htmlPage.Match(body):
		return nil, e.failed(req, "answered with an HTML page, perhaps of a proxy")
	case resp.StatusCode/100 != 2:
		e.note(req, fmt.Sprintf("answered %d%s%s", resp.StatusCode, code(body), skew)) // The library decides about it.
	}
	return resp, nil
}

// CloseIdleConnections closes the connections that are kept open.
func (e *exchange) CloseIdleConnections() { e.next.CloseIdleConnections() }

// note keeps the reason of a failure for messages.
func (e *exchange) note(req *http.Request, why string) {
	text := fmt.Sprintf("%.100s %s", req.URL.Hostname(), why)
	e.failure.Store(&text)
}

func (e *exchange) failed(req *http.Request, why string) error {
	e.note(req, why)
	return errors.New(why)
}

// codes match the codes of errors: of Microsoft Entra, of AWS and of OAuth. But for Entra's prefix, a code has letters only, unlike a token.
var codes = []*regexp.Regexp{ //nolint:gochecknoglobals // A constant table.
	regexp.MustCompile(`(AADSTS\d{4,9})`), regexp.MustCompile(`<Code>([A-Za-z.]{1,64})</Code>`),
	regexp.MustCompile(`"(?:error|code|Code|status)"\s*:\s*"([A-Za-z_.]{1,64})"`),
}

// code returns the code of an error, as " (invalid_client)"; empty if there is none. The rest of an answer may repeat a secret.
func code(body []byte) string {
	for _, of := range codes {
		if found := of.FindSubmatch(body); found != nil {
			return fmt.Sprintf(" (%s)", found[1])
		}
	}
	return ""
}

// maxSkew is the difference of clocks from which AWS refuses a signature; Google and Azure accept about as much.
const maxSkew = 5 * time.Minute

// clockSkew says, after a comma, how far the clock of a server is from that of this machine; empty within maxSkew.
func clockSkew(header http.Header) string {
	at, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return ""
	}
	skew := time.Since(at).Abs() //nolint:forbidigo // It is the clock of the machine that is compared.
	if skew <= maxSkew {
		return ""
	}
	const text = ", and its clock differs by %v from that of this machine: correct the clock of the node"
	return fmt.Sprintf(text, skew.Round(time.Second))
}

// noAnswer ends the reason of a request that took too long.
const noAnswer = "did not answer in time"

// reason says what happened to a request for a token, without addresses and without what a server wrote.
func reason(ctx context.Context, err error) string {
	if unknown, ok := errors.AsType[*net.DNSError](err); ok {
		return "was not found: " + unknown.Err
	}
	if late, ok := errors.AsType[net.Error](err); ctx.Err() != nil || ok && late.Timeout() {
		return noAnswer
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		return "could not be reached: " + failed.Err.Error()
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "has a certificate that this machine does not trust"
	}
	return "could not be reached"
}

// withoutExchange says why there is no token if no request of the exchange failed. Google's metadata server has a client of its own.
func withoutExchange(ctx context.Context, err error) string {
	if refused, ok := errors.AsType[*metadata.Error](err); ok {
		return fmt.Sprintf("the metadata server answered %d", refused.Code)
	}
	if ctx.Err() != nil {
		return "the endpoint for tokens " + noAnswer
	}
	return "no usable credentials were found"
}
