// Package modelserver is a small model server: it takes the time that an inference engine with continuous batching takes, and
// computes nothing. Its metrics have vLLM's names.
package modelserver

import "time"

// Config is how fast an engine is and how much it holds.
type Config struct {
	// Sequences is the most that run at once (vLLM's max_num_seqs).
	Sequences int
	// Budget is the most tokens of a step (max_num_batched_tokens): prompts are prefilled in chunks along with the decodes.
	Budget int
	// Cache is the tokens that the KV cache holds.
	Cache int
	// Step is the time of a step with nothing in it; each sequence that decodes and each token that is prefilled adds to it.
	Step, PerSequence, PerToken time.Duration
}

// Default is a replica that completes 2.5 requests of 1,200 and 200 tokens in a second at most.
func Default() Config {
	return Config{
		Sequences: 16, Budget: 512, Cache: 32_000,
		Step: 20 * time.Millisecond, PerSequence: 400 * time.Microsecond, PerToken: 50 * time.Microsecond,
	}
}

// Request is a request by its lengths in tokens. Started and First are called when it leaves the queue and when its first token is
// there, Done when its last one is.
type Request struct {
	Prompt, Output       int
	Started, First, Done func()

	prefilled, decoded int
	// chunk is what the step in progress prefills of it.
	chunk int
}

// held is the tokens that it has in the cache.
func (r *Request) held() int { return r.prefilled + r.decoded }

// Engine is an engine without a clock: its owner waits for each step.
type Engine struct {
	Config

	waiting, running []*Request
	used             int
}

// New returns an idle engine.
func New(c Config) *Engine { return &Engine{Config: c} }

// Add puts a request at the end of the queue.
func (e *Engine) Add(r *Request) {
	// The longest request that an engine takes fills its cache.
	r.Output = max(min(r.Output, e.Cache/2), 1)
	r.Prompt = max(min(r.Prompt, e.Cache-r.Output), 1)
	e.waiting = append(e.waiting, r)
}

// Waiting is the requests in the queue.
func (e *Engine) Waiting() int { return len(e.waiting) }

// Running is the requests in the batch.
func (e *Engine) Running() int { return len(e.running) }

// Usage is the share of the KV cache that is in use.
func (e *Engine) Usage() float64 { return float64(e.used) / float64(e.Cache) }

// Begin fills the batch and returns how long its step takes: 0 where there is nothing to do. End ends it.
func (e *Engine) Begin() time.Duration {
	decoding := 0
	for _, r := range e.running {
		if r.chunk = 0; r.prefilled == r.Prompt {
			decoding++
		}
	}
	tokens := e.Budget - decoding
	for _, r := range e.running {
		tokens -= e.prefill(r, tokens)
	}
	for len(e.waiting) > 0 && tokens > 0 && len(e.running) < e.Sequences && e.used+e.waiting[0].Prompt < e.Cache {
		r := e.waiting[0]
		e.waiting, e.running = e.waiting[1:], append(e.running, r)
		call(&r.Started)
		e.used += r.Prompt // Its blocks are taken when it is scheduled.
		tokens -= e.prefill(r, tokens)
	}
	if len(e.running) == 0 {
		return 0
	}
	return e.Step + time.Duration(decoding)*e.PerSequence + time.Duration(e.Budget-decoding-tokens)*e.PerToken
}

// prefill plans the next chunk of a prompt.
func (*Engine) prefill(r *Request, tokens int) int {
	r.chunk = min(r.Prompt-r.prefilled, tokens)
	return r.chunk
}

// End gives each sequence of the step its token, and ends those that have all.
func (e *Engine) End() {
	left := e.running[:0]
	for _, r := range e.running {
		decodes := r.prefilled == r.Prompt
		r.prefilled += r.chunk
		if decodes || r.chunk > 0 && r.prefilled == r.Prompt { // The last chunk yields the first token.
			r.decoded++
			e.used++
			call(&r.First)
		}
		if r.decoded < r.Output {
			left = append(left, r)
			continue
		}
		e.used -= r.held()
		call(&r.Done)
	}
	e.running = left
	for e.used > e.Cache { // The newest gives its blocks back and begins again, as vLLM preempts.
		r := e.running[len(e.running)-1]
		e.running = e.running[:len(e.running)-1]
		e.used -= r.Prompt + r.decoded
		r.prefilled, r.decoded = 0, 0
		e.waiting = append([]*Request{r}, e.waiting...)
	}
}

// call calls once what may be nil.
func call(f *func()) {
	if *f != nil {
		(*f)()
		*f = nil
	}
}
