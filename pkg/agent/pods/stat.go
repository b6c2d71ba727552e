package pods

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// stat identifies a process.
type stat struct {
	comm  string
	start uint64 // in clock ticks after boot
	// ended: a zombie, whose cgroup may be the root by now.
	ended bool
}

// startField is the index of the start time among the fields after the comm (proc(5): field 22, the comm is field 2).
const startField = 22 - 3

// parseStat reads /proc/PID/stat: PID (COMM) STATE …. A process chooses its comm, which may have spaces and
// parentheses.
func parseStat(file []byte) (stat, error) {
	from, to := bytes.IndexByte(file, '('), bytes.LastIndexByte(file, ')')
	if from < 0 || to < from {
		return stat{}, errors.New("stat has no comm")
	}
	fields := bytes.Fields(file[to+1:])
	if len(fields) <= startField {
		return stat{}, fmt.Errorf("stat has %d fields after the comm, want more than %d", len(fields), startField)
	}
	start, err := strconv.ParseUint(string(fields[startField]), 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("stat's start time: %w", err)
	}
	state := string(fields[0])
	return stat{comm: string(file[from+1 : to]), start: start, ended: state == "Z" || state == "X"}, nil
}
