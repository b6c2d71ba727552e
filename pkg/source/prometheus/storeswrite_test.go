package prometheus_test

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/golang/snappy"
	"github.com/prometheus/prometheus/prompb"
)

// Sample is a value at a time in milliseconds since the epoch.
type Sample struct {
	At    int64
	Value float64
}

// Series is samples in the order of their times. The name is the label __name__.
type Series struct {
	Labels  map[string]string
	Samples []Sample
}

// batch is how much time a request covers: a store refuses a sample that is more than an hour older than the newest.
const batch = 30 * time.Minute

// write sends the series to a URL of remote write, in the order of their times.
func (p *Process) write(tb testing.TB, url string, all []Series) {
	tb.Helper()
	requests := map[int64]*prompb.WriteRequest{}
	for _, s := range all {
		labels := make([]prompb.Label, 0, len(s.Labels))
		for _, name := range slices.Sorted(maps.Keys(s.Labels)) {
			labels = append(labels, prompb.Label{Name: name, Value: s.Labels[name]})
		}
		for _, part := range parts(s.Samples) {
			r := cmp.Or(requests[part.begin], &prompb.WriteRequest{})
			r.Timeseries = append(r.Timeseries, prompb.TimeSeries{Labels: labels, Samples: part.samples})
			requests[part.begin] = r
		}
	}
	for _, begin := range slices.Sorted(maps.Keys(requests)) {
		if err := post(tb.Context(), url, requests[begin]); err != nil {
			tb.Fatalf("write samples to %s: %v; its log ends:\n%s", p.Name, err, p.Tail())
		}
	}
}

// part is the samples of one request.
type part struct {
	begin   int64
	samples []prompb.Sample
}

func parts(samples []Sample) []part {
	var out []part
	for _, s := range samples {
		begin := s.At - s.At%batch.Milliseconds()
		if n := len(out); n == 0 || out[n-1].begin != begin {
			out = append(out, part{begin: begin})
		}
		last := &out[len(out)-1]
		last.samples = append(last.samples, prompb.Sample{Timestamp: s.At, Value: s.Value})
	}
	return out
}

func post(ctx context.Context, url string, body *prompb.WriteRequest) error {
	raw, err := body.Marshal()
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(snappy.Encode(nil, raw)))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Encoding", "snappy")
	request.Header.Set("Content-Type", "application/x-protobuf")
	request.Header.Set("X-Prometheus-Remote-Write-Version", "0.1.0")
	_, err = do(request)
	return err
}
