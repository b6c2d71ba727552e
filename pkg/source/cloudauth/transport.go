package cloudauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Transport adds credentials to requests. It is safe for concurrent use.
type Transport struct {
	config    Config
	next      http.RoundTripper
	exchange  *exchange
	mu        sync.Mutex
	authorize authorizer
	// secret is the content of the file for which authorize was made. sent has the confidential parts of the newest credentials.
	secret string
	sent   []string
}

// authorizer adds credentials to a request.
type authorizer func(ctx context.Context, req *http.Request) error

// New returns a transport that sends requests by next, with credentials; no request waits for them longer than limit. The
// configuration must be valid. New does not connect, and reads no file.
func New(config Config, next http.RoundTripper, limit time.Duration) *Transport {
	return &Transport{config: config, next: next, exchange: newExchange(limit)}
}

// Error says why a request was not sent or not accepted, and what to do. It has no secret, and no text of the cloud but its code.
type Error struct{ text string }

// Error implements error.
func (e *Error) Error() string { return e.text }

// RoundTrip implements http.RoundTripper. Every request gets a signature or a token of its own, over its final headers and body.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	signed := req.Clone(req.Context())
	if err := t.sign(signed); err != nil {
		if signed.Body != nil {
			err = errors.Join(err, signed.Body.Close())
		}
		return nil, err
	}
	resp, err := t.next.RoundTrip(signed)
	if err != nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return resp, err
	}
	if skew := clockSkew(resp.Header); skew != "" {
		return nil, errors.Join(t.failed("the store answered %d%s", resp.StatusCode, skew), resp.Body.Close())
	}
	return resp, nil
}

// sign adds the credentials.
func (t *Transport) sign(req *http.Request) error {
	ctx, cancel := context.WithTimeout(req.Context(), t.exchange.limit)
	defer cancel()
	t.exchange.failure.Store(nil)
	authorize, err := t.current()
	if err != nil {
		return t.failed("%v", err)
	}
	err = authorize(ctx, req)
	_, signature, _ := strings.Cut(req.Header.Get("Authorization"), "Signature=")
	bearer, _ := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	t.mu.Lock()
	t.sent = []string{signature, bearer, req.Header.Get("X-Amz-Security-Token")}
	t.mu.Unlock()
	if err == nil {
		return nil
	}
	text := withoutExchange(ctx, err)
	if failure := t.exchange.failure.Load(); failure != nil {
		text = *failure
	}
	check := t.config.advice().check
	if strings.HasSuffix(text, noAnswer) {
		check = "check that the pod can reach it"
	}
	return t.failed("%s: %s", text, check)
}

// current returns the authorizer for the present content of the file with the secret.
func (t *Transport) current() (authorizer, error) {
	secret, err := t.config.secret()
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.authorize == nil || t.secret != secret {
		made, err := t.config.authorizer(secret, t.exchange.client())
		if err != nil {
			return nil, err
		}
		t.authorize, t.secret = made, secret
	}
	return t.authorize, nil
}

func (t *Transport) failed(format string, args ...any) error {
	return &Error{fmt.Sprintf("credentials (%s): %.400s", t.config.advice().name, fmt.Sprintf(format, args...))}
}

// Secrets returns what must not be in a message: the content of the file, and the newest token or signature.
func (t *Transport) Secrets() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string{t.secret}, t.sent...)
}

// CloseIdleConnections closes the connections that are kept open.
func (t *Transport) CloseIdleConnections() {
	t.exchange.CloseIdleConnections()
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
