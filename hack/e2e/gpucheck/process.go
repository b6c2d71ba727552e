//go:build cgo

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// process is a load that runs.
type process struct {
	load
	command *exec.Cmd
	out     bytes.Buffer
	did     did
}

// start starts a load as a process of its pod.
func (c *check) start(ctx context.Context, l load, env []string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{load: l}
	p.command = exec.CommandContext(ctx, self, "load", l.kind, fmt.Sprint(l.share), fmt.Sprint(loadTime.Seconds()))
	p.command.Env, p.command.Stdout, p.command.Stderr = append(os.Environ(), env...), &p.out, os.Stderr
	if l.pod != "" {
		path, err := c.node.cgroup(l.pod)
		if err != nil {
			return nil, fmt.Errorf("a cgroup for %s: %w", l.pod, err)
		}
		folder, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer folder.Close() //nolint:errcheck // Read only.
		p.command.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(folder.Fd())}
	}
	return p, p.command.Start()
}

func (p *process) wait() error {
	if err := p.command.Wait(); err != nil {
		return fmt.Errorf("the load %s: %w", p.kind, err)
	}
	return json.Unmarshal(p.out.Bytes(), &p.did)
}

func (p *process) kill() {
	if p != nil && p.command.ProcessState == nil {
		_ = p.command.Process.Kill() //nolint:errcheck // It may have ended.
		_ = p.command.Wait()         //nolint:errcheck // It was killed.
	}
}

// smiReading is what nvidia-smi says: means in percent, of the GPU and of its processes.
type smiReading struct {
	gpu       float64
	processes map[int]float64
	server    bool
}

// watch reads nvidia-smi once a second for the agent's window.
func (c *check) watch(ctx context.Context) smiReading {
	seconds := int(window.Seconds())
	out := smiReading{processes: map[int]float64{}}
	ask := func(table string) string {
		//nolint:errcheck // Then 0 is told.
		text, _ := output(ctx, c.smi, table, "-i", "0", "-s", "u", "-c", strconv.Itoa(seconds))
		return text
	}
	devices := make(chan string, 1)
	go func() { devices <- ask("dmon") }()
	for _, fields := range rows(ask("pmon"), 4) {
		pid, _ := strconv.Atoi(fields[1])            //nolint:errcheck // 0 for a dash.
		busy, _ := strconv.ParseFloat(fields[3], 64) //nolint:errcheck // Likewise.
		out.processes[pid] += busy / float64(seconds)
		out.server = out.server || strings.HasPrefix(fields[len(fields)-1], "nvidia-cuda-mps")
	}
	for _, fields := range rows(<-devices, 2) {
		busy, _ := strconv.ParseFloat(fields[1], 64) //nolint:errcheck // Likewise.
		out.gpu += busy / float64(seconds)
	}
	return out
}

// rows of a table of nvidia-smi.
func rows(text string, least int) [][]string {
	var out [][]string
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) >= least && fields[0] != "#" {
			out = append(out, fields)
		}
	}
	return out
}
