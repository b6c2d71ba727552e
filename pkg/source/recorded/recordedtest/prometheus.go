// Package recordedtest is a Prometheus for tests of commands that read a history from one.
package recordedtest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// Prometheus answers every range query with a demand. Its zero value has none.
type Prometheus struct {
	// Demand is what a query reads at a time; NaN is nothing.
	Demand func(at time.Time) float64
	// Answer, if not nil, is the demand that a query reads, in Demand's place.
	Answer func(query string) func(at time.Time) float64
	// Stalls, where not 0, is how many requests are answered (none below 0); later ones hang until the client gives up.
	Stalls int64
	// Several answers with two series.
	Several bool
	// Refusal, if not empty, is what every query is refused with.
	Refusal string

	asked atomic.Int64
}

// Hourly is a demand that repeats every hour, with noise that depends on the time alone.
func Hourly(at time.Time) float64 {
	minute := float64(at.Unix() / 60)
	return 100 + 60*math.Sin(2*math.Pi*math.Mod(minute, 60)/60) + 4*math.Mod(math.Abs(math.Sin(minute*minute))*1000, 1)
}

// ServeHTTP answers /api/v1/query_range.
func (p *Prometheus) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// These are read first, because a server that has not read a request does not notice when its client disconnects.
	start, end, step := seconds(r, "start"), seconds(r, "end"), seconds(r, "step")
	w.Header().Set("Content-Type", "application/json")
	if asked := p.asked.Add(1); p.Stalls != 0 && asked > p.Stalls {
		<-r.Context().Done()
		return
	}
	if p.Refusal != "" {
		w.WriteHeader(http.StatusBadRequest)
		send(w, map[string]string{"status": "error", "errorType": "bad_data", "error": p.Refusal})
		return
	}
	demand := p.Demand
	if p.Answer != nil {
		demand = p.Answer(r.FormValue("query"))
	}
	samples := samplesOf(demand, start, end, step)
	result := []any{}
	if len(samples) > 0 {
		result = append(result, map[string]any{"metric": map[string]string{"pod": "a"}, "values": samples})
	}
	if p.Several {
		result = append(result, map[string]any{"metric": map[string]string{"pod": "b"}, "values": samples})
	}
	send(w, map[string]any{"status": "success", "data": map[string]any{"resultType": "matrix", "result": result}})
}

func samplesOf(demand func(time.Time) float64, start, end, step float64) [][2]any {
	var out [][2]any
	for at := start; demand != nil && at <= end; at += step {
		if v := demand(time.UnixMilli(int64(math.Round(at * 1000)))); !math.IsNaN(v) {
			out = append(out, [2]any{at, strconv.FormatFloat(v, 'g', -1, 64)})
		}
	}
	return out
}

func seconds(r *http.Request, name string) float64 {
	v, err := strconv.ParseFloat(r.FormValue(name), 64)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", name, err))
	}
	return v
}

// send ignores errors: the client may have disconnected, and the test checks what it reports then.
func send(w http.ResponseWriter, body any) {
	if err := json.NewEncoder(w).Encode(body); err != nil {
		return
	}
}
