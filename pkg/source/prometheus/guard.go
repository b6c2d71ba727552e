package prometheus

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
)

// maxErrorBody is how much of an error's body is read; its beginning tells what happened.
const maxErrorBody = 64 << 10

// guard stands between the API client, which reads whole answers into memory, and a server that may send anything.
type guard struct {
	next     http.RoundTripper
	maxBytes int64
}

// RoundTrip sends the request and refuses what cannot be an answer: a page for people, or more than fits.
func (g guard) RoundTrip(req *http.Request) (*http.Response, error) {
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
		return nil, errors.Join(errPage, resp.Body.Close())
	}
	if resp.ContentLength > g.maxBytes {
		return nil, errors.Join(&http.MaxBytesError{Limit: g.maxBytes}, resp.Body.Close())
	}
	// Beyond the limit it is an error, unlike an io.LimitReader, whose end is that of an answer.
	resp.Body = http.MaxBytesReader(nil, resp.Body, g.maxBytes)
	return resp, nil
}

// CloseIdleConnections lets the API client close what it keeps open.
func (g guard) CloseIdleConnections() {
	if c, ok := g.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// errPage says that the server answered a page for people.
var errPage = errors.New("the answer is an HTML page")

// redirectError says that the server sends its clients elsewhere. It is not followed: a redirected POST loses its
// query, and the token belongs to the host that was configured.
type redirectError struct{ to *url.URL }

// Error says whereto, without the query.
func (e *redirectError) Error() string {
	return "the server redirects to " + Redacted(e.to.String())
}
