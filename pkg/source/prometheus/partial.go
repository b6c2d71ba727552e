package prometheus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/prometheus/client_golang/api"
)

// errPartial means that the server marked its answer as a part of the data.
var errPartial = errors.New("the answer is partial")

// wholeAnswers refuses answers that are marked as partial. vmselect, the querier of a VictoriaMetrics cluster, has no
// warnings: if a storage node is down it answers with status 200 and "isPartial": true beside the data, a field that the
// API client drops.
type wholeAnswers struct{ api.Client }

// Do sends a request and reads its answer.
func (c wholeAnswers) Do(ctx context.Context, req *http.Request) (*http.Response, []byte, error) {
	resp, body, err := c.Client.Do(ctx, req)
	if err == nil && isPartial(body) {
		return resp, nil, errPartial
	}
	return resp, body, err
}

// isPartial reports whether an answer has the mark. The field is before the data, which is then not read. What is not
// JSON has no mark; the API client reports it.
func isPartial(body []byte) bool {
	const mark = "isPartial"
	if !bytes.Contains(body, []byte(mark)) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return false
		}
		if name == mark {
			var partial bool
			return d.Decode(&partial) != nil || partial
		}
		var other json.RawMessage
		if d.Decode(&other) != nil {
			return false
		}
	}
	return false
}
