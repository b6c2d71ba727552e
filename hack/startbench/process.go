package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a running server, with its URL on loopback.
type process struct {
	name, url, ready string
	cmd              *exec.Cmd
	log              string
}

func startPrometheus(ctx context.Context, dir string) (*process, error) {
	path, err := exec.LookPath("prometheus")
	if err != nil {
		return nil, errors.New("no prometheus on PATH: install one, on Debian by `apt-get install prometheus`")
	}
	config := filepath.Join(dir, "prometheus.yml")
	if err = os.WriteFile(config, []byte("{}\n"), 0o600); err != nil {
		return nil, err
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	p, err := start(ctx, dir, "prometheus", path,
		"--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--storage.tsdb.retention.time=60d",
		"--web.listen-address=127.0.0.1:"+port)
	if err != nil {
		return nil, err
	}
	p.url, p.ready = "http://127.0.0.1:"+port, "/-/ready"
	if err = p.await(ctx, time.Minute, func(string) {}); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

func startForewarm(ctx context.Context, o options, dir, forecasts, prometheus string) (*process, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	p, err := start(ctx, dir, "forewarm", o.binary, "serve", "--standalone", "--port="+port,
		"--config-dir="+forecasts, "--prometheus-url="+prometheus,
		// All Forecasts are in one namespace here.
		"--cluster-query-namespaces=bench", "--query-concurrency-per-namespace=16")
	if err != nil {
		return nil, err
	}
	p.url, p.ready = "http://127.0.0.1:"+port, "/readyz"
	return p, nil
}

func start(ctx context.Context, dir, name, path string, args ...string) (*process, error) {
	p := &process{name: name, log: filepath.Join(dir, name+".log")}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer log.Close() //nolint:errcheck // The child has its own copy.
	p.cmd = exec.CommandContext(ctx, path, args...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// freePort is a port that was just free.
func freePort(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

// await polls the readiness until the process is ready, and passes each answer to tell.
func (p *process) await(ctx context.Context, atMost time.Duration, tell func(answer string)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, atMost, fmt.Errorf("%s is not ready after %s", p.name, atMost))
	defer cancel()
	for {
		status, body := get(ctx, p.url+p.ready)
		if status == http.StatusOK {
			return nil
		}
		if status != 0 {
			tell(body)
		}
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(p.log) //nolint:errcheck // An unreadable log is left out.
			return fmt.Errorf("%w; its log ends:\n%s", context.Cause(ctx), tail(string(log), 2000))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// get returns status 0 where there is no answer yet.
func get(ctx context.Context, url string) (status int, body string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, err.Error()
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close() //nolint:errcheck // Read to its end below.
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(text)
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// usage is the CPU time and memory of a process so far.
type usage struct {
	cpu      time.Duration
	resident int64
}

func (u usage) String() string {
	return fmt.Sprintf("%.1f s CPU, %d MiB resident", u.cpu.Seconds(), u.resident>>20)
}

// usage reads Linux' /proc; elsewhere it is zero.
func (p *process) usage() usage {
	const tick = time.Second / 100 // USER_HZ
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return usage{}
	}
	// The fields after the command's name, which is in parentheses: utime and stime are the 12th and 13th.
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 22 {
		return usage{}
	}
	number := func(i int) int64 {
		n, _ := strconv.ParseInt(fields[i], 10, 64) //nolint:errcheck // The kernel writes numbers.
		return n
	}
	return usage{
		cpu:      time.Duration(number(11)+number(12)) * tick,
		resident: number(21) * int64(os.Getpagesize()),
	}
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // It may have stopped by itself.
	_ = p.cmd.Wait()                          //nolint:errcheck // Likewise.
}
