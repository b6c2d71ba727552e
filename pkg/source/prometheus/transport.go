package prometheus

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
)

// maxErrorBody is how much of an error's body is read; the cause is at its start.
const maxErrorBody = 64 << 10

// boundedTransport bounds the answers of a server, because the API client reads them whole into memory.
type boundedTransport struct {
	next     http.RoundTripper
	maxBytes int64
}

// RoundTrip sends the request and refuses an HTML page and an answer above the limit.
func (g boundedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := g.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxErrorBody), resp.Body}
		return resp, nil
	}
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil && kind == "text/html" {
		return nil, errors.Join(errHTMLPage, resp.Body.Close())
	}
	if resp.ContentLength > g.maxBytes {
		return nil, errors.Join(&http.MaxBytesError{Limit: g.maxBytes}, resp.Body.Close())
	}
	// At the limit this returns an error; an io.LimitReader would end the answer.
	resp.Body = http.MaxBytesReader(nil, resp.Body, g.maxBytes)
	return resp, nil
}

// CloseIdleConnections closes the connections that are kept open.
func (g boundedTransport) CloseIdleConnections() {
	if c, ok := g.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// errHTMLPage means that the answer is a page for browsers.
var errHTMLPage = errors.New("the answer is an HTML page")

// redirectError is a redirect. It is not followed: a redirected POST loses its query, and the token is only for the
// configured host.
type redirectError struct{ to *url.URL }

// Error has the target, without its query.
func (e *redirectError) Error() string {
	return "the server redirects to " + RedactedURL(e.to.String())
}
