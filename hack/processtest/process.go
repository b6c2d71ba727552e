// Package processtest runs programs of tests and benchmarks as processes that listen on loopback.
package processtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// stopTimeout is how long a process may take to end after SIGTERM. A kube-apiserver waits up to a minute for running requests.
const stopTimeout = 75 * time.Second

// Process is a running program whose output goes to a log file.
type Process struct {
	Name string
	// Log is the file of its output.
	Log string

	command *exec.Cmd
	over    chan struct{}
	err     error
}

// Program is what to run.
type Program struct {
	Name   string
	Binary string
	Args   []string
	// Env is added to this process' environment.
	Env []string
}

// Start runs a program in a folder; its log is there, under its name.
func (p Program) Start(dir string) (*Process, error) {
	log := filepath.Join(dir, p.Name+".log")
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	defer file.Close()                           //nolint:errcheck // The process has its own descriptor.
	command := exec.Command(p.Binary, p.Args...) //nolint:noctx // It outlives its caller: Stop ends it.
	command.Dir, command.Stdout, command.Stderr = dir, file, file
	command.Env = append(os.Environ(), p.Env...)
	// If this process is killed, its children end, too. Only this process handles ^C on the terminal.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	out := &Process{Name: p.Name, Log: log, command: command, over: make(chan struct{})}
	go func() {
		defer close(out.over)
		out.err = command.Wait()
	}()
	return out, nil
}

// Running reports whether it has not ended yet.
func (p *Process) Running() bool {
	select {
	case <-p.over:
		return false
	default:
		return true
	}
}

// Stop ends it by SIGTERM, or kills it where that takes too long, which is an error.
func (p *Process) Stop() error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.over:
		return nil
	case <-time.After(stopTimeout):
		p.Kill()
		return fmt.Errorf("%s did not end within %s", p.Name, stopTimeout)
	}
}

// Kill kills it, and returns when it has ended.
func (p *Process) Kill() {
	_ = p.command.Process.Kill() //nolint:errcheck // It may have ended.
	<-p.over
}

// Signal sends it a signal. It is not an error if the process has ended.
func (p *Process) Signal(s os.Signal) error {
	if err := p.command.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s: %w", p.Name, err)
	}
	return nil
}

// Exit waits for its end and returns how it ended.
func (p *Process) Exit(ctx context.Context) error {
	select {
	case <-p.over:
		return p.err
	case <-ctx.Done():
		return fmt.Errorf("%s goes on: %w", p.Name, ctx.Err())
	}
}

// Usage is the CPU time of a process so far, and the memory that it holds, in bytes.
type Usage struct {
	CPU      time.Duration
	Resident int64
}

// Usage reads Linux' /proc; elsewhere it is zero.
func (p *Process) Usage() Usage {
	const tick = time.Second / 100 // USER_HZ
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
	if err != nil {
		return Usage{}
	}
	// The fields after the command's name, which is in parentheses: utime, stime and rss are the 12th, the 13th and the 22nd.
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 22 {
		return Usage{}
	}
	number := func(i int) int64 {
		n, _ := strconv.ParseInt(fields[i], 10, 64) //nolint:errcheck // The kernel writes numbers.
		return n
	}
	return Usage{
		CPU:      time.Duration(number(11)+number(12)) * tick,
		Resident: number(21) * int64(os.Getpagesize()),
	}
}

// ResidentMiB is how much memory it holds; 0 where that cannot be read.
func (p *Process) ResidentMiB() int { return int(p.Usage().Resident >> 20) }

// TraceCollections is the variable of a Go program's environment with which it logs its collections of garbage.
const TraceCollections = "GODEBUG=gctrace=1"

// collection matches the log line of a garbage collection. The last size in it is that of the live heap.
var collection = regexp.MustCompile(`(?m)^gc \d+ @.*->\d+->(\d+) MB`)

// LiveMiB is its live heap after the newest collection, by the end of its log; 0 where it does not trace its collections.
func (p *Process) LiveMiB() int {
	const newest = 64 << 10
	file, err := os.Open(p.Log)
	if err != nil {
		return 0
	}
	defer file.Close() //nolint:errcheck // Read only.
	if info, unknown := file.Stat(); unknown == nil && info.Size() > newest {
		_, _ = file.Seek(-newest, io.SeekEnd) //nolint:errcheck // Then more is read.
	}
	text, err := io.ReadAll(file)
	all := collection.FindAllSubmatch(text, -1)
	if err != nil || len(all) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(string(all[len(all)-1][1])) //nolint:errcheck // Digits.
	return n
}

// Await repeats a check until it returns nil, the process ends, or until a timeout.
func (p *Process) Await(ctx context.Context, limit time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.over:
			return fmt.Errorf("%s ended: %w\n%s", p.Name, p.err, p.Tail())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready after %s: %w\n%s", p.Name, limit, err, p.Tail())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// AwaitHealthy awaits that a URL answers 200.
func (p *Process) AwaitHealthy(ctx context.Context, limit time.Duration, client *http.Client, url string) error {
	return p.Await(ctx, limit, func(ctx context.Context) error { return healthy(ctx, client, url) })
}

func healthy(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	defer response.Body.Close() //nolint:errcheck // Read only.
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("ask %s: %s", url, response.Status)
	}
	return nil
}

// Tail is the end of its log.
func (p *Process) Tail() []byte {
	const most = 3000
	text, err := os.ReadFile(p.Log)
	if err != nil {
		return []byte(err.Error())
	}
	if len(text) <= most {
		return text
	}
	text = text[len(text)-most:]
	return text[bytes.IndexByte(text, '\n')+1:]
}

// Listen listens on a port of loopback on which no process listens.
func Listen(ctx context.Context) (listener net.Listener, port int, err error) {
	if listener, err = new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return nil, 0, fmt.Errorf("find a free port: %w", err)
	}
	return listener, listener.Addr().(*net.TCPAddr).Port, nil //nolint:errcheck // A TCP listener has a TCP address.
}

// The ports that FreePort returns are below those that Linux assigns to connections and to listeners on port 0. Therefore no other process
// takes such a port before the process for which it is meant listens on it.
const (
	firstPort = 20_000
	ports     = 12_000
)

// given counts the ports that FreePort has tried.
var given atomic.Int32 //nolint:gochecknoglobals // Ports are the machine's.

// FreePort finds a port for another process to listen on, and returns each one once. Several runs begin at different ones.
func FreePort(ctx context.Context) (int, error) {
	for range ports {
		port := firstPort + (os.Getpid()*97+int(given.Add(1)))%ports
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return port, listener.Close()
		}
	}
	return 0, fmt.Errorf("all ports from %d to %d are in use", firstPort, firstPort+ports-1)
}

// FreePorts finds so many.
func FreePorts(ctx context.Context, n int) ([]int, error) {
	out := make([]int, n)
	for i := range out {
		var err error
		if out[i], err = FreePort(ctx); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// PID returns its process ID.
func (p *Process) PID() int { return p.command.Process.Pid }
