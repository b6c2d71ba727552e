package prometheus

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/printable"
)

// ErrSlow is wrapped, beside series.ErrUnavailable, where a request took longer than its timeout.
var ErrSlow = errors.New("no answer")

// explain says what a failed request means: which sentinel, and what to do.
func (s *Source) explain(ctx context.Context, err error) error {
	var (
		refused  *v1.Error
		redirect *redirectError
		large    *http.MaxBytesError
	)
	switch {
	case ctx.Err() != nil: // The caller gave up; that says nothing of the server.
		return fmt.Errorf("%s: %w: %w", s.name, context.Cause(ctx), series.ErrUnavailable)
	case errors.Is(err, context.DeadlineExceeded):
		return s.unavailable("%w within %v: raise the timeout, or make the query cheaper by a recording rule",
			ErrSlow, s.cfg.Timeout)
	case errors.As(err, &large):
		return fmt.Errorf("%s: the answer has more than %d bytes: %w: aggregate the query to one series with sum()",
			s.name, large.Limit, series.ErrTooLarge)
	case errors.As(err, &redirect):
		return s.unavailable("%s: set the URL to where the API is; if that is a login, use a bearer token",
			s.cfg.hide(redirect.Error()))
	case errors.Is(err, errPage):
		return s.unavailable("%w: a login page or another service? want the URL before /api/v1", errPage)
	case errors.As(err, &refused):
		return s.explainAnswer(refused)
	default:
		err = cause(err)
		return s.unavailable("%w", hiddenError{err, s.cfg.hide(err.Error())})
	}
}

// explainAnswer takes the answers that are errors: of the query (it will not get better), or of the server.
func (s *Source) explainAnswer(e *v1.Error) error {
	message := s.clip(e.Msg)
	if e.Type == v1.ErrBadResponse { // The parser shows pieces of the answer, in which pieces of secrets may stand.
		message, _, _ = strings.Cut(message, ", error found in")
	}
	switch {
	case strings.Contains(e.Msg, "too many samples") || strings.Contains(e.Msg, "exceeded maximum resolution"):
		return fmt.Errorf("%s: %s: %w: use a recording rule, a longer step or less history", s.name, message,
			series.ErrTooLarge)
	case e.Type == v1.ErrBadData || e.Type == v1.ErrExec:
		return fmt.Errorf("%s: %s: %w", s.name, message, series.ErrQuery)
	case e.Type == v1.ErrBadResponse:
		return s.unavailable("not an answer of the Prometheus API (%s): want the URL before /api/v1", message)
	case strings.HasSuffix(e.Msg, " 401") || strings.HasSuffix(e.Msg, " 403"):
		return s.unavailable("%s: the server wants a token, a client certificate or a tenant header%s", message,
			s.tail(e))
	case strings.HasSuffix(e.Msg, " 404"):
		return s.unavailable("%s: want the URL before /api/v1 (Mimir's ends in /prometheus)%s", message, s.tail(e))
	default:
		return s.unavailable("%s%s", message, s.tail(e))
	}
}

func (s *Source) unavailable(format string, args ...any) error {
	return fmt.Errorf("%s: %w: %w", s.name, fmt.Errorf(format, args...), series.ErrUnavailable)
}

// tail is the beginning of what the server said, if it said anything.
func (s *Source) tail(e *v1.Error) string {
	if e.Detail == "" {
		return ""
	}
	return ": " + s.clip(e.Detail)
}

// several says which series came, up to three of them.
func (s *Source) several(matrix model.Matrix) error {
	const show = 3
	names := make([]string, 0, show)
	for _, stream := range matrix[:min(show, len(matrix))] {
		names = append(names, s.clip(stream.Metric.String()))
	}
	more := ""
	if len(matrix) > show {
		more = " and more"
	}
	return fmt.Errorf("%s: %s%s: %w: aggregate the query to its total with sum()",
		s.name, strings.Join(names, ", "), more, series.ErrMany)
}

// clip makes what a server said fit into a line, without secrets.
func (s *Source) clip(text string) string {
	const limit = 160
	text = s.cfg.hide(text)
	return printable.Clip(strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " "), limit)
}
