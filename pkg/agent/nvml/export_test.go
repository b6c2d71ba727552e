//go:build cgo

package nvml

// What the fuzz target calls directly.
var (
	Trim  = trim
	Usage = processUse
)
