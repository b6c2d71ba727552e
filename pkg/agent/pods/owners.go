package pods

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"strconv"
)

// maxFileSize limits the size of a process's file, in bytes. A cgroup file of version 1 has about 14 lines of 250 bytes.
const maxFileSize = 16 << 10

// mpsServer is the comm of nvidia-cuda-mps-server, which the kernel truncates to 15 characters.
const mpsServer = "nvidia-cuda-mps"

// Owners maps processes to containers, and caches them. It is not safe for concurrent use.
type Owners struct {
	proc   fs.FS
	names  logNames
	buffer []byte
	// generation counts the calls of Lookup. Processes that were not looked up since the call before the last one are dropped.
	generation int
	processes  map[int]process
}

// process is a cached process. Its start time is part of its identity: the kernel reuses PIDs.
type process struct {
	start      uint64 // in clock ticks after boot
	owner      Container
	generation int
}

// NewOwners reads processes from a node's /proc, and pods from the kubelet's folders in its /var/log.
func NewOwners(proc, logs fs.FS) *Owners {
	return &Owners{
		proc: proc, names: logNames{logs: logs}, buffer: make([]byte, maxFileSize), processes: map[int]process{},
	}
}

// Lookup starts a step. The function that it returns maps a process to its container until the next call of Lookup. It
// lists the kubelet's folders at most once, where a container is new.
//
// It returns false for a process that ended or that the agent does not see, for a container whose pod is not known
// (yet), and for an MPS server, which may work for any client. The zero Container is a process of the node itself.
func (o *Owners) Lookup() func(pid int) (Container, bool) {
	maps.DeleteFunc(o.processes, func(_ int, p process) bool { return p.generation < o.generation })
	o.generation++
	o.names.stale = true
	return o.owner
}

func (o *Owners) owner(pid int) (Container, bool) {
	p, found := o.processes[pid]
	if found && p.generation == o.generation {
		return p.owner, true // The process has several devices open.
	}
	s, err := o.stat(pid)
	if err != nil || s.ended || s.comm == mpsServer {
		return Container{}, false
	}
	if found && p.start == s.start {
		p.generation = o.generation
		o.processes[pid] = p
		return p.owner, true
	}
	owner, known := o.readOwner(pid)
	if !known {
		return Container{}, false
	}
	// The cgroup may belong to another process that got the PID in the meantime.
	if again, err := o.stat(pid); err != nil || again.start != s.start {
		return Container{}, false
	}
	o.processes[pid] = process{start: s.start, owner: owner, generation: o.generation}
	return owner, true
}

// readOwner finds a process's container from its cgroup.
func (o *Owners) readOwner(pid int) (Container, bool) {
	file, err := o.file(pid, "cgroup")
	if err != nil || len(file) == 0 {
		return Container{}, false
	}
	at := parsePlace(string(file))
	if at.Container != "" {
		if c, found := o.names.container(at.Container); found {
			return c, true
		}
	}
	if at.Pod != "" {
		return o.names.onlyContainer(at.Pod)
	}
	// A container without a pod does not belong to Kubernetes, unless the agent sees only the end of the path.
	return Container{}, at.Container == "" || !at.Relative
}

func (o *Owners) stat(pid int) (stat, error) {
	file, err := o.file(pid, "stat")
	if err != nil {
		return stat{}, err
	}
	return parseStat(file)
}

// file reads a process's file. The result is valid until the next call. A file above the size limit is an error.
func (o *Owners) file(pid int, name string) ([]byte, error) {
	f, err := o.proc.Open(strconv.Itoa(pid) + "/" + name)
	if err != nil {
		return nil, err
	}
	n, err := io.ReadFull(f, o.buffer)
	closed := f.Close()
	switch {
	case err == nil:
		return nil, errors.New(name + " has no end")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return o.buffer[:n], closed
	}
	return nil, err
}

// stat identifies a process.
type stat struct {
	comm  string
	start uint64 // in clock ticks after boot
	// ended is true for a zombie, whose cgroup may already be the root.
	ended bool
}

// startField is the index of the start time among the fields after the comm (proc(5): field 22, the comm is field 2).
const startField = 22 - 3

// parseStat parses /proc/PID/stat: PID (COMM) STATE …. A process chooses its own comm, which may contain spaces and parentheses.
func parseStat(file []byte) (stat, error) {
	from, to := bytes.IndexByte(file, '('), bytes.LastIndexByte(file, ')')
	if from < 0 || to < from {
		return stat{}, errors.New("stat has no comm")
	}
	fields := bytes.Fields(file[to+1:])
	if len(fields) <= startField {
		return stat{}, fmt.Errorf("stat has %d fields after the comm; expected more than %d", len(fields), startField)
	}
	start, err := strconv.ParseUint(string(fields[startField]), 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("stat's start time: %w", err)
	}
	state := string(fields[0])
	return stat{comm: string(file[from+1 : to]), start: start, ended: state == "Z" || state == "X"}, nil
}
