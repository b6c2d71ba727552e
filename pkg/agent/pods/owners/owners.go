package owners

import (
	"errors"
	"io"
	"io/fs"
	"strconv"

	"github.com/forewarm/forewarm/pkg/agent/pods"
)

// longest is how much is read of a process's file, in bytes: a cgroup file of version 1 has some 14 lines of 250.
const longest = 16 << 10

// mpsServer is the comm of nvidia-cuda-mps-server, which the kernel cuts at 15 letters.
const mpsServer = "nvidia-cuda-mps"

// Owners looks processes up and remembers them. It is not safe for concurrent use.
type Owners struct {
	proc   fs.FS
	names  names
	buffer []byte
	// look counts looks; what neither this look nor the one before asked about is forgotten.
	look      int
	processes map[int]process
}

// process is what is known of a process. A PID alone is none: the kernel gives it to another one later.
type process struct {
	start uint64 // in clock ticks after boot
	owner pods.Container
	look  int
}

// New looks processes up in a node's /proc, and pods in its /var/log, where the kubelet keeps the folders containers and
// pods.
func New(proc, logs fs.FS) *Owners {
	return &Owners{
		proc: proc, names: names{logs: logs}, buffer: make([]byte, longest), processes: map[int]process{},
	}
}

// Look begins a step: the function that it returns says whose a process is, until the next look, and lists the kubelet's
// folders once at most, where a container is new.
//
// It says false of a process that ended or that the agent does not see, of a container whose pod is not known (yet), and
// of an MPS server, which may work for any of its clients. The zero Container is the node's own.
func (o *Owners) Look() func(pid int) (pods.Container, bool) {
	for pid, p := range o.processes {
		if p.look < o.look {
			delete(o.processes, pid)
		}
	}
	o.look++
	o.names.stale = true
	return o.of
}

func (o *Owners) of(pid int) (pods.Container, bool) {
	p, found := o.processes[pid]
	if found && p.look == o.look {
		return p.owner, true // it has several devices open
	}
	s, err := o.stat(pid)
	if err != nil || s.ended || s.comm == mpsServer {
		return pods.Container{}, false
	}
	if found && p.start == s.start {
		p.look = o.look
		o.processes[pid] = p
		return p.owner, true
	}
	owner, known := o.read(pid)
	if !known {
		return pods.Container{}, false
	}
	// The cgroup may be that of a process that has the PID since.
	if again, err := o.stat(pid); err != nil || again.start != s.start {
		return pods.Container{}, false
	}
	o.processes[pid] = process{start: s.start, owner: owner, look: o.look}
	return owner, true
}

// read whose a process is from its cgroup.
func (o *Owners) read(pid int) (pods.Container, bool) {
	file, err := o.file(pid, "cgroup")
	if err != nil || len(file) == 0 {
		return pods.Container{}, false
	}
	at := parsePlace(string(file))
	if at.Container != "" {
		if c, found := o.names.container(at.Container); found {
			return c, true
		}
	}
	if at.Pod != "" {
		return o.names.only(at.Pod)
	}
	// A container without a pod is none of Kubernetes', unless the pod stands above what the agent sees of the path.
	return pods.Container{}, at.Container == "" || !at.Relative
}

func (o *Owners) stat(pid int) (stat, error) {
	file, err := o.file(pid, "stat")
	if err != nil {
		return stat{}, err
	}
	return parseStat(file)
}

// file of a process, valid until the next one is read. What is longer than any such file is an error.
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
