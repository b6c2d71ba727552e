package prometheus

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/printable"
)

// ErrTimeout is wrapped, beside series.ErrUnavailable, if a request took longer than its timeout.
var ErrTimeout = errors.New("no answer")

// explain turns a failed request into an error with a sentinel and an action.
func (s *Source) explain(ctx context.Context, err error) error {
	var (
		refused  *v1.Error
		redirect *redirectError
		large    *http.MaxBytesError
	)
	switch {
	case ctx.Err() != nil: // The caller gave up, which is no error of the server.
		return fmt.Errorf("%s: %w: %w", s.name, context.Cause(ctx), series.ErrUnavailable)
	case errors.Is(err, context.DeadlineExceeded):
		return s.unavailable("%w within %v: raise the timeout, or make the query cheaper by a recording rule",
			ErrTimeout, s.cfg.Timeout)
	case errors.As(err, &large):
		return fmt.Errorf("%s: the answer has more than %d bytes: %w: aggregate the query to one series with sum()",
			s.name, large.Limit, series.ErrTooLarge)
	case errors.As(err, &redirect) && s.cfg.Hidden:
		return s.unavailable("the server redirects: set the URL to that of the API")
	case errors.As(err, &redirect):
		return s.unavailable("%s: set the URL to that of the API; if it redirects to a login, use a bearer token",
			s.cfg.redact(redirect.Error()))
	case errors.Is(err, errHTMLPage):
		return s.unavailable("%w, perhaps a login page or another service: want the URL before /api/v1", errHTMLPage)
	case errors.Is(err, errPartial):
		return s.unavailable("%w: a storage node behind the server is down or slow: check them", errPartial)
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

// withoutAddress is an error of a connection without the addresses of both ends.
func withoutAddress(err error) error {
	if unknown, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Errorf("the host is not found: %s", unknown.Err)
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("%s: %w", failed.Op, failed.Err)
	}
	return err
}

// explainAnswer explains answers that are errors: of the query, which are permanent, or of the server.
func (s *Source) explainAnswer(e *v1.Error) error {
	message := s.clip(e.Msg)
	if e.Type == v1.ErrBadResponse { // The parser quotes parts of the answer, which may have parts of secrets.
		message, _, _ = strings.Cut(message, ", error found in")
	}
	switch {
	case strings.Contains(e.Msg, "too many samples") || strings.Contains(e.Msg, "exceeded maximum resolution"):
		return fmt.Errorf("%s: %s: %w: use a recording rule, a longer step or less history", s.name, message,
			series.ErrTooLarge)
	case e.Type == v1.ErrExec && strings.Contains(e.Msg, "rpc error: code = "):
		// Thanos names a store that fails as it names a query that cannot be executed.
		return s.unavailable("a store behind the server failed: %s: check it", message)
	case e.Type == v1.ErrBadData || e.Type == v1.ErrExec:
		return fmt.Errorf("%s: %s: %w", s.name, message, series.ErrQuery)
	case e.Type == v1.ErrBadResponse:
		return s.unavailable("the answer is not of the Prometheus API (%s): want the URL before /api/v1", message)
	case strings.HasSuffix(e.Msg, " 401") || strings.HasSuffix(e.Msg, " 403"):
		return s.unavailable("%s: set the token, client certificate or tenant header that the server requires%s",
			message, s.detail(e))
	case strings.HasSuffix(e.Msg, " 404"):
		return s.unavailable("%s: want the URL before /api/v1 (Mimir's ends in /prometheus)%s", message, s.detail(e))
	default:
		return s.unavailable("%s%s", message, s.detail(e))
	}
}

func (s *Source) unavailable(format string, args ...any) error {
	return fmt.Errorf("%s: %w: %w", s.name, fmt.Errorf(format, args...), series.ErrUnavailable)
}

// detail is the start of the server's message, if there is one.
func (s *Source) detail(e *v1.Error) string {
	if e.Detail == "" {
		return ""
	}
	return ": " + s.clip(e.Detail)
}

// severalSeries is the error for several series. It lists two.
func (s *Source) severalSeries(matrix model.Matrix) error {
	names := make([]string, 0, keptSeries)
	for _, stream := range matrix[:min(keptSeries, len(matrix))] {
		names = append(names, s.clip(stream.Metric.String()))
	}
	more := ""
	if len(matrix) > keptSeries {
		more = " and more"
	}
	return fmt.Errorf("%s: %s%s: %w: aggregate the query to its total with sum()",
		s.name, strings.Join(names, ", "), more, series.ErrSeveralSeries)
}

// clip shortens a server's message to a line, without secrets.
func (s *Source) clip(text string) string {
	const limit = 160
	text = s.cfg.redact(text)
	return printable.Clip(strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " "), limit)
}
