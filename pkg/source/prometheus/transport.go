package prometheus

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	"golang.org/x/sync/semaphore"

	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/printable"
	"github.com/forewarm/forewarm/pkg/source/cloudauth"
)

// maxErrorBody limits how much of an error's body is read; the cause is at the beginning.
const maxErrorBody = 64 << 10

const (
	maxSampleBytes = 64       // Of an answer for each sample: [1700000010.123,"-1.2345678901234567e-308"],
	maxLabelBytes  = 16 << 10 // For the labels of each series.
	maxOtherBytes  = 64 << 10 // For the rest.
)

// expected is the size that a range request should return. The zero value is its key in the request's context.
type expected struct{ points, series int }

// maxAnswers limits the bytes of answers that are read at the same time, over all sources. Decoded answers take about four times as much.
const maxAnswers = 64 << 20

var answers = semaphore.NewWeighted(maxAnswers) //nolint:gochecknoglobals // All sources share a process.

// boundedTransport limits the answers of a server, because the API client reads them into memory in full.
type boundedTransport struct {
	next     http.RoundTripper
	maxBytes int64
}

// limit returns how much of an answer is read. One series more than expected fits, which is already an error.
func (g boundedTransport) limit(of expected) int64 {
	return min(g.maxBytes, maxOtherBytes+int64(keptSeries(of.series))*(maxLabelBytes+maxSampleBytes*int64(of.points)))
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
	of, ofRange := req.Context().Value(expected{}).(expected)
	if !ofRange {
		of.series = 1
	}
	limit := g.limit(of)
	if err := answers.Acquire(req.Context(), limit); err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	// At the limit, this reader returns an error. An io.LimitReader would silently end the answer.
	whole := http.MaxBytesReader(nil, resp.Body, limit)
	body := &answerBody{whole, whole, sync.OnceFunc(func() { answers.Release(limit) })}
	if ofRange {
		body.Reader = &firstSeries{from: whole, kept: keptSeries(of.series)}
	}
	resp.Body = body
	return resp, nil
}

// answerBody releases its share of the memory when it is closed.
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
var errHTMLPage = errors.New("the response is an HTML page")

// redirectError is a redirect. Forewarm does not follow it: a POST would lose its query, and the token is meant for one host.
type redirectError struct{ to *url.URL }

// Error has the target, without its query.
func (e *redirectError) Error() string {
	return "the server redirects to " + RedactedURL(e.to.String())
}

// ErrTimeout is wrapped, together with series.ErrUnavailable, if a request took longer than its timeout.
var ErrTimeout = errors.New("no response")

// explain converts a failed request to an error with a sentinel and an action.
func (s *Source) explain(ctx context.Context, err error) error {
	var (
		refused  *v1.Error
		redirect *redirectError
		large    *http.MaxBytesError
		unsigned *cloudauth.Error
	)
	switch {
	case ctx.Err() != nil: // The caller gave up, so this is not an error of the server.
		return fmt.Errorf("%s: %w: %w", s.name, context.Cause(ctx), series.ErrUnavailable)
	case errors.As(err, &unsigned):
		return s.unavailable("%s", s.cfg.redact(unsigned.Error()))
	case errors.Is(err, context.DeadlineExceeded):
		return s.unavailable("%w within %v: raise the timeout, or make the query cheaper with a recording rule",
			ErrTimeout, s.cfg.Timeout)
	case errors.As(err, &large):
		return fmt.Errorf("%s: the response is larger than %d bytes: %w: aggregate the query to one series with sum()",
			s.name, large.Limit, series.ErrTooLarge)
	case errors.As(err, &redirect) && s.cfg.Hidden:
		return s.unavailable("the server redirects: set the URL of the API itself")
	case errors.As(err, &redirect):
		return s.unavailable(
			"%s: set the URL of the API itself; if this is a redirect to a login page, use a bearer token",
			s.cfg.redact(redirect.Error()),
		)
	case errors.Is(err, errHTMLPage):
		return s.unavailable(
			"%w, perhaps a login page or a page of another service: set the URL to the part of the API's URL before /api/v1",
			errHTMLPage,
		)
	case errors.Is(err, errPartial):
		return s.unavailable(
			"%w, because a storage node behind the server is down or slow: check the storage nodes",
			errPartial,
		)
	case errors.As(err, &refused):
		return s.explainAnswer(refused)
	default:
		err = withoutURL(err)
		if s.cfg.Hidden {
			err = withoutAddress(err)
		}
		return s.unavailable("%w", redactedError{err, s.cfg.redact(err.Error())})
	}
}

// withoutAddress returns an error of a connection without the addresses of both ends.
func withoutAddress(err error) error {
	if unknown, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Errorf("the host was not found: %s", unknown.Err)
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("%s: %w", failed.Op, failed.Err)
	}
	return err
}

// explainAnswer explains answers that are errors, either of the query (which are permanent) or of the server.
func (s *Source) explainAnswer(e *v1.Error) error {
	e = decoded(e)
	message := s.clip(executing.ReplaceAllString(e.Msg, ""))
	if e.Type == v1.ErrBadResponse { // The parser quotes parts of the answer, which may contain secrets.
		message, _, _ = strings.Cut(message, ", error found in")
	}
	ofQuery := e.Type == v1.ErrBadData || e.Type == v1.ErrExec || isVictoriaMetrics(e.Type)
	switch {
	case e.Type != v1.ErrBadResponse && limit(e.Msg) != "":
		return fmt.Errorf("%s: %s: %w: use a recording rule, a longer step or less history", s.name,
			s.clip(limit(e.Msg)), series.ErrTooLarge)
	case e.Type == v1.ErrExec && strings.Contains(e.Msg, "rpc error: code = "):
		// Thanos uses the same type of error for a store that fails and for a query that cannot be executed.
		return s.unavailable("a store behind the server failed: %s: check that store", message)
	case isVictoriaMetrics(e.Type) && isTrouble(e.Msg):
		const trouble = "the server could not execute the query: %s: check its load, its disk and its storage nodes"
		return s.unavailable(trouble, message)
	case ofQuery:
		return fmt.Errorf("%s: %s: %w", s.name, message, series.ErrQuery)
	case e.Type == v1.ErrBadResponse:
		return s.unavailable(
			"this is not a response of the Prometheus API (%s): set the URL to the part of the API's URL before /api/v1",
			message,
		)
	case strings.HasSuffix(e.Msg, " 401") || strings.HasSuffix(e.Msg, " 403"):
		const usual = "set the token, client certificate or tenant header that the server requires"
		return s.unavailable("%s: %s%s", message, cmp.Or(s.cfg.Auth.Advice(), usual), s.detail(e))
	case strings.HasSuffix(e.Msg, " 404"):
		return s.unavailable(
			"%s: set the URL to the part of the API's URL before /api/v1 (for Mimir, it ends in /prometheus)%s",
			message,
			s.detail(e),
		)
	default:
		return s.unavailable("%s%s", message, s.detail(e))
	}
}

// decoded fills in the type and the message of an error whose body the API client could not decode: JSON whose errorType is a number, or
// plain text. In that case the client has the status as the message and the body as the detail. With plain text, a status of 422 is an
// error of the query. A status of 400 is one only if the text mentions a limit or a parser, because proxies also answer 400.
func decoded(e *v1.Error) *v1.Error {
	unprocessable := strings.HasSuffix(e.Msg, " 422")
	text := strings.TrimSpace(e.Detail)
	if e.Type != v1.ErrClient || text == "" || !unprocessable && !strings.HasSuffix(e.Msg, " 400") {
		return e
	}
	var body struct {
		Type any    `json:"errorType"`
		Text string `json:"error"`
	}
	switch {
	case json.Unmarshal([]byte(text), &body) == nil && body.Text != "":
		return &v1.Error{Type: v1.ErrorType(fmt.Sprint(body.Type)), Msg: body.Text}
	case strings.HasPrefix(text, "<") || strings.HasPrefix(text, "{"):
		return e
	case unprocessable, limit(text) != "", strings.Contains(text, "parse error"),
		strings.Contains(text, "cannot parse"), strings.Contains(text, "unknown func"):
		return &v1.Error{Type: unprocessableType, Msg: text}
	}
	return e
}

// unprocessableType is the type that VictoriaMetrics gives to an error of a query, which is the status. Since August 2026, it is 400 for
// invalid parameters.
const unprocessableType v1.ErrorType = "422"

// isVictoriaMetrics reports whether the type of an error is the status of VictoriaMetrics for a query that it cannot answer. The type says
// nothing about the cause; only the text does.
func isVictoriaMetrics(t v1.ErrorType) bool { return t == unprocessableType || t == "400" }

// limit returns the part of an error that mentions a limit on samples, series, points, memory or time. It recognizes the words of
// Prometheus, VictoriaMetrics, Mimir, Cortex and Thanos. It returns only the clause with these words, because the text before it is long.
// The result is empty for other errors. A limit on the length of the query does not count, because then the answer is not too large.
func limit(text string) string {
	text = withoutQuotes(text)
	lower := strings.ToLower(text)
	for _, other := range []string{"-search.maxquerylen", "err-mimir-max-query-expression-size"} {
		if strings.Contains(lower, other) {
			return ""
		}
	}
	for _, words := range []string{
		"too many samples", "exceeded maximum resolution", // Prometheus
		"matching timeseries exceeds", "unique timeseries", "too many points", "maximum number of points", "not enough memory for processing",
		"samples per series", "-search.maxsamples", "-search.maxseries", "-search.maxunique", "-search.maxpoints", "-search.maxresponse",
		"-search.maxmemory", "-search.max*", // VictoriaMetrics
		"err-mimir-max-", "the query exceeded the ", "query time range exceeds the limit", // Mimir
		"the query hit the ", "exceeded series limit", "exceeded chunks limit", "exceeded samples limit", "exceeded bytes limit", // Cortex, Thanos
	} {
		if at := strings.Index(lower, words); at >= 0 {
			before := strings.LastIndex(text[:min(at, len(text))], ": ")
			return strings.TrimPrefix(text[max(0, before):], ": ")
		}
	}
	return ""
}

// isTrouble reports whether an error of VictoriaMetrics is an error of the server. VictoriaMetrics uses the type for query errors for
// nearly everything that fails during execution.
func isTrouble(text string) bool {
	text = strings.ToLower(withoutQuotes(text))
	for _, words := range []string{
		"timeout exceeded", "deadline exceeded", "i/o timeout", "context canceled", "couldn't start executing", "-search.maxconcurrent",
		"-search.maxqueryduration", "-search.maxqueue", "vmstorage", "storage node", "dial tcp", "connection re", "broken pipe", "unexpected eof",
		"temporary file", "temporary blocks", "disk space", "no space left", "cannot write", "cannot read", "unpacking", "service unavailable",
	} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// quoted matches a quoted text. Servers quote the query in their errors.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// withoutQuotes removes the quoted parts of a server's text, because a query may contain any words.
func withoutQuotes(text string) string { return quoted.ReplaceAllString(text, `""`) }

// executing matches what VictoriaMetrics writes before the cause. It contains the query of the Forecast, which is long.
var executing = regexp.MustCompile(
	`^error when executing query="(?:[^"\\]|\\.)*" (?:for|on the time range) \([^)]*\): `,
)

func (s *Source) unavailable(format string, args ...any) error {
	return fmt.Errorf("%s: %w: %w", s.name, fmt.Errorf(format, args...), series.ErrUnavailable)
}

// detail returns the beginning of the server's message, if there is one.
func (s *Source) detail(e *v1.Error) string {
	if e.Detail == "" {
		return ""
	}
	return ": " + s.clip(e.Detail)
}

// severalSeries returns the error for several series. It lists two of them.
func (s *Source) severalSeries(matrix model.Matrix) error {
	const show = 2
	names := make([]string, 0, show)
	for _, stream := range matrix[:min(show, len(matrix))] {
		names = append(names, s.clip(stream.Metric.String()))
	}
	more := ""
	if len(matrix) > show {
		more = " and more"
	}
	return fmt.Errorf("%s: %s%s: %w: aggregate the query to its total with sum()",
		s.name, strings.Join(names, ", "), more, series.ErrSeveralSeries)
}

// clip shortens a server's message to one line, without secrets.
func (s *Source) clip(text string) string {
	const limit = 160
	text = s.cfg.redact(text)
	return printable.Clip(strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " "), limit)
}
