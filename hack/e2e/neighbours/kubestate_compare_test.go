package neighbours_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/signal"
)

// store is the Prometheus.
type store struct{ url string }

// points are the values of an expression by their time, in seconds since the epoch.
type points map[int64]float64

// read is an expression at each scrape's time; it must be one series, or none.
func (s store) read(ctx context.Context, expr string, from, to time.Time) (points, error) {
	form := url.Values{
		"query": {expr}, "start": {strconv.FormatInt(from.Truncate(interval).Unix(), 10)},
		"end": {strconv.FormatInt(to.Unix(), 10)}, "step": {strconv.Itoa(int(interval.Seconds()))},
	}
	body := strings.NewReader(form.Encode())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/api/v1/query_range", body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // Read only.
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Error string
		Data  struct{ Result []struct{ Values [][2]any } }
	}
	if err = json.Unmarshal(text, &answer); err != nil || answer.Error != "" || len(answer.Data.Result) > 1 {
		return nil, fmt.Errorf("%s: %w %.300s", expr, err, text)
	}
	out := points{}
	for _, result := range answer.Data.Result {
		for _, v := range result.Values {
			at, isTime := v[0].(float64)
			text, isText := v[1].(string)
			number, bad := strconv.ParseFloat(text, 64)
			if !isTime || !isText || bad != nil {
				return nil, fmt.Errorf("%s: value %v", expr, v)
			}
			out[int64(at)] = number
		}
	}
	return out, nil
}

// around is the least and the greatest of the values within so many scrapes of a time, and whether one is missing.
func (v points) around(at int64, scrapes int) (low, high float64, missing bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := -scrapes; i <= scrapes; i++ {
		x, there := v[at+int64(i)*int64(interval.Seconds())]
		if missing = missing || !there; there {
			low, high = min(low, x), max(high, x)
		}
	}
	return low, high, missing
}

// shownBy is what the exporter shows to some presets, worked out by hand: a load of 120 as running and as waiting requests, as shares of GPUs
// that are 0.6 together, and a hundred times as many first tokens in a second. The others have what their query makes of the exporter's own
// owners.
var shownBy = map[string]float64{
	"vllm/inflight/green": 240, "tgi/queue/green": 120, "dcgm/gpu-busy/green": 0.6, "vllm/arrivals/green": 12_000,
	"vllm/inflight/db": 120,
}

// checkShown compares with shownBy. A rate is less after a workload was away.
func checkShown(t *testing.T, name string, shown points, begin time.Time) {
	t.Helper()
	want, known := shownBy[name]
	for at, v := range shown {
		rate := strings.Contains(name, "arrivals")
		if known && (v > want*(1+rateTolerance) || v < want*(1-1e-9) && !rate) {
			t.Errorf("%d s: the exporter shows %g, want %g", at-begin.Unix(), v, want)
		}
	}
}

// rateTolerance is three scrapes of the 60 in the range of a rate: what a new series counts before its first scrape is not
// seen, which is at another time in each scrape job, and PromQL extrapolates to the ends of the range.
const rateTolerance = 3 * float64(interval) / float64(2*time.Minute)

// compare compares a preset's values by kube-state-metrics with those by the exporter's own owners, at each scrape.
//
// The tolerance is two scrapes where that what is shown changes, because both are scraped at different times, and three of a rate, which a
// single scrape changes while it rises. The load is constant, so only the deletion of a whole workload changes it: whatever else happens to pods there is none.
func (s store) compare(t *testing.T, p signal.Preset, begin, end time.Time, target signal.Target) {
	t.Helper()
	want, err := s.read(t.Context(), render(t, p, target, truth), begin.Add(-3*interval), end)
	if err != nil {
		t.Fatal(err)
	}
	if len(want) < int(end.Sub(begin)/interval)/2 {
		t.Fatalf("only %d values are known", len(want))
	}
	checkShown(t, p.Name+"/"+target.Name, want, begin)
	for _, set := range []string{replicated, sharded} {
		for how := range honoured {
			got, err := s.read(t.Context(), render(t, p, target, set+"-"+how), begin, end)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := got.differ(want, toleranceOf(t, p), begin, end); len(wrong) > 0 {
				some := strings.Join(wrong[:min(len(wrong), 9)], "; ")
				t.Errorf("%s-%s: %d of %d values: %s", set, how, len(wrong), len(got), some)
			}
		}
	}
}

// tolerance is how much values may differ, and how many in a row may differ more.
type tolerance struct {
	share float64
	inRow int
	// scrapes is how many scrapes a value may be early or late.
	scrapes int
}

// toleranceOf is a preset's. What kube-state-metrics alone reports has no server that says when a pod serves: when a pod is
// replaced, the old one may be gone before the new one has a node, or one replica reports the old and the other the new.
func toleranceOf(t *testing.T, p signal.Preset) tolerance {
	t.Helper()
	switch expr := render(t, p, signal.Target{Kind: "Deployment", Name: "llama"}, truth); {
	case strings.Contains(expr, " offset "): // Whether a new server was there a step ago differs by the scrapes of then and of now.
		return tolerance{share: rateTolerance, inRow: 2, scrapes: 3}
	case strings.Contains(expr, "rate("):
		return tolerance{share: rateTolerance, scrapes: 3}
	case len(seriesOf(t, map[string]signal.Preset{p.Name: p})) == 0:
		return tolerance{share: 1e-9, inRow: 2, scrapes: 2}
	}
	return tolerance{share: 1e-9, scrapes: 2}
}

// differ are the values that are not those that are wanted, in words.
func (v points) differ(want points, tolerated tolerance, begin, end time.Time) (out []string) {
	inRow, last := 0, end.Add(-time.Duration(tolerated.scrapes)*interval).Unix()
	for at := begin.Truncate(interval).Unix(); at < last; at += int64(interval.Seconds()) {
		least, most, missing := want.around(at, tolerated.scrapes)
		x, there := v[at]
		if there && x <= most*(1+tolerated.share) && x >= least*(1-tolerated.share) || !there && missing {
			inRow = 0
			continue
		}
		inRow++
		if inRow > tolerated.inRow {
			out = append(out, fmt.Sprintf("%d s: %g (there: %v), want %g to %g",
				at-begin.Unix(), x, there, least, most))
		}
	}
	return out
}
