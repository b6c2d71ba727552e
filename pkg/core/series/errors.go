package series

import "errors"

// What a source can answer instead of one series. Sources wrap these with the numbers and the advice; test with
// errors.Is.
var (
	// ErrNone: the query returned no series at all over the whole range.
	ErrNone = errors.New("no series")
	// ErrMany: the query returned several series where one total is wanted.
	ErrMany = errors.New("several series")
	// ErrQuery: the query itself is refused (it does not parse, or asks for what it may not). Retrying does not help.
	ErrQuery = errors.New("query refused")
	// ErrTooLarge: the answer exceeds a limit on size or points.
	ErrTooLarge = errors.New("answer too large")
	// ErrUnavailable: the source is down, slow or answered something that is no answer. Retrying may help.
	ErrUnavailable = errors.New("source unavailable")
)
