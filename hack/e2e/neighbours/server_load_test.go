package neighbours_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/source/trace"

	"github.com/forewarm/forewarm/hack/e2e/modelserver"
)

const (
	// loadCycle is the short "day" of the foreseeable load.
	loadCycle = 10 * time.Minute
	// loadLength is how long the loads last, and loadHistory how much of them is in the past.
	loadLength, loadHistory = 2 * loadCycle, 12 * loadCycle
	// loadStep is the step of the recorded trace.
	loadStep = 10 * time.Second
	// lateAfter is the objective's wait: a bound of vLLM's histogram of first tokens.
	lateAfter = 5 * time.Second
)

// rates are the requests per second of each load. A replica serves 2.4 at most.
var rates = map[string]func(time.Duration) float64{
	// Four minutes low, a minute's rise, four minutes high, a minute's fall.
	"rise": func(at time.Duration) float64 {
		phase := (at%loadCycle + loadCycle) % loadCycle
		return 2 + 6*min(max((phase-4*time.Minute).Minutes(), 0), 1, (loadCycle-phase).Minutes())
	},
	"burst": func(at time.Duration) float64 {
		if at > 8*time.Minute && at < 10*time.Minute {
			return 8
		}
		return 2
	},
	"flat": func(time.Duration) float64 { return 5 },
}

// recorded are arrivals and mean lengths for each ten seconds of a real service, around a mean of 1.
type recorded struct{ level, prompt, output []float64 }

func openRecorded(t *testing.T) recorded {
	t.Helper()
	data := os.Getenv("FOREWARM_DATA")
	if data == "" {
		t.Skip("FOREWARM_DATA is unset: the loads are recorded ones")
	}
	path := filepath.Join(data, "traces", "azure2023_conv_10s.csv.gz")
	column := map[string][]float64{}
	for _, name := range []string{"requests", "prompt_tokens", "output_tokens"} {
		s, err := trace.ReadFile(path, name)
		if err != nil {
			t.Fatal(err)
		}
		column[name] = s.Values[1 : len(s.Values)-1] // The first and the last are cut.
	}
	n := column["requests"]
	var r recorded
	for i, v := range n {
		around := n[max(i-15, 0):min(i+16, len(n))] // Five minutes: the shape of the day is the load's own.
		sum := 0.0
		for _, w := range around {
			sum += w
		}
		r.level = append(r.level, v*float64(len(around))/sum)
		r.prompt = append(r.prompt, column["prompt_tokens"][i]/max(v, 1))
		r.output = append(r.output, column["output_tokens"][i]/max(v, 1))
	}
	return r
}

// load is a load from a time on, which may be before the beginning. Its requests are the same in every run.
func (r recorded) load(name string, from, length time.Duration) (out []modelserver.Arrival) {
	for at := time.Duration(0); at < length; at += loadStep {
		slot := int((from+at+loadHistory)/loadStep) % len(r.level)
		seed := rand.NewPCG(uint64(from+at+loadHistory), uint64(len(name)))
		random := rand.New(seed) //nolint:gosec // The same in each run.
		until := math.Exp(-rates[name](from+at) * r.level[slot] * loadStep.Seconds())
		for p := random.Float64(); p > until; p *= random.Float64() { // As many as Knuth's method draws from a Poisson distribution.
			length := func(mean float64) int { return 1 + int(mean*min(random.ExpFloat64(), 4)) }
			out = append(out, modelserver.Arrival{
				At:     at + time.Duration(random.Int64N(int64(loadStep))),
				Prompt: length(r.prompt[slot]), Output: length(r.output[slot]),
			})
		}
	}
	slices.SortFunc(out, func(a, b modelserver.Arrival) int { return int(a.At - b.At) })
	return out
}

// past is the requests in flight of a load's history, on enough replicas.
func (r recorded) past(name string) []float64 {
	return modelserver.Play(modelserver.Default(), r.load(name, -loadHistory, loadHistory), loadHistory, demandStep,
		func(at time.Duration) int { return int(math.Ceil(rates[name](at-loadHistory) / 1.6)) })
}

// sender sends a load to the servers of a namespace, from a time on, and keeps the times to the first tokens.
type sender struct {
	namespace string
	begin     time.Time
	// pick returns an address and what to call when the request is over.
	pick func(ctx context.Context, namespace string, body []byte) (address string, done func())

	mu     sync.Mutex
	waits  []time.Duration
	failed int
	// cut is how often a server did not answer a request in full, or refused it, because it was stopped.
	cut int
}

// run returns when all are answered, or have failed.
func (s *sender) run(t *testing.T, load []modelserver.Arrival) {
	t.Helper()
	var all sync.WaitGroup
	for _, a := range load {
		time.Sleep(time.Until(s.begin.Add(a.At)))
		all.Go(func() {
			body, err := json.Marshal(modelserver.Completion{
				Model: "llama", Prompt: fmt.Sprint("request ", a.At), PromptTokens: a.Prompt, MaxTokens: a.Output,
				Stream: true,
			})
			if err != nil {
				t.Error(err)
				return
			}
			first, err := s.send(t.Context(), body)
			s.mu.Lock()
			defer s.mu.Unlock()
			if err != nil {
				s.failed++
				first = s.begin.Add(a.At + loadLength) // Never: it counts as late.
			}
			s.waits = append(s.waits, first.Sub(s.begin.Add(a.At)))
		})
	}
	all.Wait()
}

// send sends a request, and again where it was cut, or where there was no server.
func (s *sender) send(ctx context.Context, body []byte) (first time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	for range 3 {
		address, done := s.pick(ctx, s.namespace, body)
		first, err = time.Time{}, errNoServer
		if address != "" {
			first, err = modelserver.Ask(ctx, servers, address, body)
		}
		done()
		if errors.Is(err, modelserver.ErrCut) {
			s.mu.Lock()
			s.cut++
			s.mu.Unlock()
		}
		if err == nil || ctx.Err() != nil {
			return first, err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return first, err
}

// longest is how long a client waits for the end of an answer: no request is longer.
const longest = 3 * time.Minute

var errNoServer = errors.New("no server is ready")

// quantile of the times to the first token, in seconds.
func (s *sender) quantile(q float64) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.waits)
	return s.waits[int(q*float64(len(s.waits)-1))].Seconds()
}

// late is the share of requests whose first token came after the wait.
func (s *sender) late() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, w := range s.waits {
		if w > lateAfter {
			n++
		}
	}
	return float64(n) / float64(len(s.waits))
}
