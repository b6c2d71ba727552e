package prometheus

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync"

	"golang.org/x/sync/semaphore"
)

// maxErrorBody is how much of an error's body is read; the cause is at its start.
const maxErrorBody = 64 << 10

// An answer is expected to have one series. It takes at most these bytes for each sample ("[1700000010.123,"-1.2345678901234567e-308"],")
// and for its labels, and the rest of the answer.
const (
	maxSampleBytes = 64
	maxLabelBytes  = 16 << 10
	maxOtherBytes  = 64 << 10
)

// expectedPoints is the key of the number of samples that a request asks for in its context.
type expectedPoints struct{}

// maxAnswers is how many bytes of answers are read at once, over all sources: decoded they take about four times as much.
const maxAnswers = 64 << 20

var answers = semaphore.NewWeighted(maxAnswers) //nolint:gochecknoglobals // All sources share a process.

// boundedTransport bounds the answers of a server, because the API client reads them whole into memory.
type boundedTransport struct {
	next     http.RoundTripper
	maxBytes int64
}

// limit is the most that is read of an answer with series of so many points: two of them, of which the second is an error
// already.
func (g boundedTransport) limit(points int) int64 {
	return min(g.maxBytes, maxOtherBytes+keptSeries*(maxLabelBytes+maxSampleBytes*int64(points)))
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
	points, ofRange := req.Context().Value(expectedPoints{}).(int)
	limit := g.limit(points)
	if err := answers.Acquire(req.Context(), limit); err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	// At the limit this returns an error; an io.LimitReader would end the answer.
	whole := http.MaxBytesReader(nil, resp.Body, limit)
	body := &answerBody{whole, whole, sync.OnceFunc(func() { answers.Release(limit) })}
	if ofRange {
		body.Reader = &firstSeries{from: whole}
	}
	resp.Body = body
	return resp, nil
}

// answerBody gives back its share of the memory when it is closed.
type answerBody struct {
	io.Reader
	io.Closer

	release func()
}

// Close implements io.Closer.
func (b *answerBody) Close() error {
	defer b.release()
	return b.Closer.Close()
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
