package processtest

import (
	"runtime"
	"runtime/debug"
)

// Memory is what this process has of the machine, in bytes.
func Memory() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased
}

// MemoryUpTo is what this process has of the machine. Beyond the limit, garbage does not count: on a busy machine the collector is
// late.
func MemoryUpTo(limit uint64) uint64 {
	now := Memory()
	if now > limit {
		debug.FreeOSMemory()
		now = Memory()
	}
	return now
}
