package prometheus

import (
	"errors"
	"fmt"
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
		resp.Body = body{Reader: io.LimitReader(resp.Body, maxErrorBody), Closer: resp.Body}
		return resp, nil
	}
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil && kind == "text/html" {
		return nil, errors.Join(errPage, resp.Body.Close())
	}
	if resp.ContentLength > g.maxBytes {
		return nil, errors.Join(tooManyBytesError{limit: g.maxBytes}, resp.Body.Close())
	}
	resp.Body = body{Reader: &limited{from: resp.Body, left: g.maxBytes, limit: g.maxBytes}, Closer: resp.Body}
	return resp, nil
}

// CloseIdleConnections lets the API client close what it keeps open.
func (g guard) CloseIdleConnections() {
	if c, ok := g.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

type body struct {
	io.Reader
	io.Closer
}

// limited is an io.LimitReader that tells the end of the limit from the end of the answer.
type limited struct {
	from        io.Reader
	left, limit int64
}

// Read reads up to the limit; one byte beyond it is an error.
func (l *limited) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.from.Read(p)
	if int64(n) > l.left {
		return 0, tooManyBytesError{limit: l.limit}
	}
	l.left -= int64(n)
	return n, err
}

// errPage says that the server answered a page for people.
var errPage = errors.New("the answer is an HTML page")

// tooManyBytesError says that the answer passes the limit.
type tooManyBytesError struct{ limit int64 }

// Error says the limit.
func (e tooManyBytesError) Error() string {
	return fmt.Sprintf("the answer has more than %d bytes", e.limit)
}

// redirectError says that the server sends its clients elsewhere. It is not followed: a redirected POST loses its
// query, and the token belongs to the host that was configured.
type redirectError struct{ to *url.URL }

// Error says whereto, without the query.
func (e *redirectError) Error() string {
	to := *e.to
	to.RawQuery = ""
	return "the server redirects to " + to.Redacted()
}
