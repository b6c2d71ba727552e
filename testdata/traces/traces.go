// Package traces carries the project's own traces inside the binary, so that the demo needs no other file. They are made
// by hack/tracegen.
package traces

import "embed"

// Each lasts 14 days, in minutes. GPUBusy has the busy GPUs out of six, in the column "gpu_busy". The others have requests per
// minute, in the column "requests": of Requests, with bursts; Office, whose users come to work; and Calm.
const (
	Requests = "requests_14d.csv.gz"
	GPUBusy  = "gpu_busy_14d.csv.gz"
	Office   = "office_14d.csv.gz"
	Calm     = "calm_14d.csv.gz"
	// LLM is drawn from the recorded rate of a production language model (ServeGen's m-small).
	LLM = "llm_14d.csv.gz"
)

// Files are the traces by name.
//
//go:embed *.csv.gz
var Files embed.FS
