package modelserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// ErrCut is a request that a server accepted and did not answer in full, or refused because it was stopping or had exited.
var ErrCut = errors.New("the request was cut")

// end is the last event of a full answer.
const end = "data: [DONE]\n\n"

// Ask sends a completion to a server and reads the answer to its end. It returns the time of the first byte. It never sends a request
// twice: that would hide that the first one was cut.
func Ask(ctx context.Context, client *http.Client, address string, body []byte) (first time.Time, err error) {
	url := "http://" + address + "/v1/completions"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return first, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.GetBody = nil // With it, Go's client repeats a request whose connection was closed before the answer.
	response, err := client.Do(request)
	if err != nil {
		return first, cut(ctx, err)
	}
	first = time.Now()
	defer response.Body.Close() //nolint:errcheck // Its end is read.
	text, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return first, cut(ctx, err)
	case response.StatusCode == http.StatusServiceUnavailable:
		return first, fmt.Errorf("%w: it was refused: %s", ErrCut, bytes.TrimSpace(text))
	case response.StatusCode != http.StatusOK:
		return first, fmt.Errorf("%s answers %s: %s", url, response.Status, bytes.TrimSpace(text))
	case !bytes.HasSuffix(text, []byte(end)):
		return first, fmt.Errorf("%w: its answer has no end", ErrCut)
	}
	return first, nil
}

// cut is the error of a broken connection, unless the client itself gave up.
func cut(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w: %w", ErrCut, err)
}
