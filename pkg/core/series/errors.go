package series

import "errors"

// Errors that a source returns instead of one series. Sources wrap them with the numbers and the advice; test with
// errors.Is.
var (
	// ErrNoSeries: the query returned no series over the whole range.
	ErrNoSeries = errors.New("no series")
	// ErrSeveralSeries: the query returned several series where one total is required.
	ErrSeveralSeries = errors.New("several series")
	// ErrQuery: the query itself is refused, because it does not parse or requests forbidden data. Retrying does not help.
	ErrQuery = errors.New("query refused")
	// ErrTooLarge: the answer exceeds a limit on size or points.
	ErrTooLarge = errors.New("answer too large")
	// ErrUnavailable: the source is down, slow or returned an invalid answer. Retrying may help.
	ErrUnavailable = errors.New("source unavailable")
)
