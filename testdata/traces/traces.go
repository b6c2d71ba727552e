// Package traces carries the project's own traces inside the binary, so that the demo needs no other file. They are made
// by hack/tracegen.
package traces

import "embed"

// Requests is a request rate, per minute, in the column "requests"; GPUBusy the busy GPUs out of six, in the column
// "gpu_busy". Both last 14 days.
const (
	Requests = "requests_14d.csv.gz"
	GPUBusy  = "gpu_busy_14d.csv.gz"
)

// Files are the traces by name.
//
//go:embed *.csv.gz
var Files embed.FS
