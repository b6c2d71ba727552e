//go:build cgo

// Command gpucheck runs the node agent next to nvidia-smi under small loads on the first GPU of this machine, and prints a report: what
// each process did by its own count, what the agent says of the GPU and of the pods, and what nvidia-smi says. It plays the kubelet.
// It changes no setting of the GPU. It needs a driver, root (for cgroups) and nvidia-smi.
//
//	make gpu-check
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"
)

func main() {
	agent := flag.String("agent", "bin/forewarm-agent", "the agent's binary")
	flag.Parse()
	if err := command(*agent); err != nil {
		fmt.Fprintln(os.Stderr, "gpucheck:", err)
		os.Exit(1)
	}
}

func command(agent string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if flag.Arg(0) == "load" {
		return runLoad(ctx, flag.Args()[1:], os.Stdout)
	}
	return run(ctx, agent)
}

// load is a process: what it does, for which share of the time, and in which pod; none for a process of the node.
type load struct {
	kind  string
	share float64
	pod   string
}

// scenario is loads that run at the same time.
type scenario struct {
	name  string
	loads []load
	mps   bool
}

// scenarios begin with each kind alone: the others' work is counted in theirs.
func scenarios() []scenario {
	const a, b, c = "pod-a", "pod-b", "pod-c"
	return []scenario{
		{name: "idle"},
		{name: "alone", loads: []load{{shaders, 1, a}}},
		{name: "alone", loads: []load{{tensors, 1, a}}},
		{name: "alone", loads: []load{{memory, 1, a}}},
		{name: "alone", loads: []load{{shaders, 0.4, a}}},
		{name: "time-slicing", loads: []load{{shaders, 1, a}, {tensors, 1, b}}},
		{name: "time-slicing", loads: []load{{shaders, 1, a}, {shaders, 0.25, b}, {nothing, 1, c}}},
		{name: "time-slicing", loads: []load{{shaders, 0.3, a}, {memory, 0.3, b}, {shaders, 0.3, ""}}},
		{name: "MPS", mps: true, loads: []load{{shaders, 0.5, a}}},
		{name: "MPS", mps: true, loads: []load{{shaders, 0.5, a}, {tensors, 0.2, b}}},
	}
}

// pods share the GPU; a single one has all of it.
func (s scenario) pods() []string {
	pods := []string{}
	for _, l := range s.loads {
		if l.pod != "" {
			pods = append(pods, l.pod)
		}
	}
	return pods
}

// The agent's window is over when it is asked, and lies within the load's time.
const (
	window   = 10 * time.Second
	loadTime = window + 4*time.Second
)

func run(ctx context.Context, agent string) error {
	smi, err := exec.LookPath("nvidia-smi")
	if err != nil {
		return fmt.Errorf("no GPU is checked, as this machine has no driver of NVIDIA's: %w", err)
	}
	uuid, err := output(ctx, smi, "--id=0", "--query-gpu=uuid", "--format=csv,noheader")
	if err != nil {
		return fmt.Errorf("no GPU is checked: nvidia-smi finds none: %w", err)
	}
	if agent, err = filepath.Abs(agent); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "gpucheck-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // A temporary folder.
	port, err := processtest.FreePort(ctx)
	if err != nil {
		return err
	}
	check := &check{
		node: &node{folder: folder, uuid: uuid}, smi: smi, binary: agent,
		address: fmt.Sprintf("127.0.0.1:%d", port), began: time.Now(), alone: map[string]float64{},
	}
	check.node.pods.Store(&[]string{"pod-a"})
	stop, err := check.node.serve(ctx)
	if err != nil {
		return err
	}
	defer stop()
	check.agent, err = processtest.Program{Name: "agent", Binary: agent, Args: []string{
		"--listen=" + check.address, "--interval=1s", "--window=" + window.String(),
		"--pod-resources-socket=" + check.node.socket(), "--logs=" + filepath.Join(folder, "log"),
	}}.Start(folder)
	if err != nil {
		return err
	}
	defer check.agent.Stop() //nolint:errcheck // The check is over.
	if err := check.describe(ctx); err != nil {
		return err
	}
	fmt.Print(head)
	for _, s := range scenarios() {
		// What one cannot do, the others may: the report says it.
		if err := check.play(ctx, s); err != nil {
			fmt.Printf("| %s | | failed: %s | | | | | |\n", s.name, strings.ReplaceAll(err.Error(), "\n", "; "))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	check.cost()
	return nil
}

// check is a run.
type check struct {
	node  *node
	agent *processtest.Process
	// smi and binary are the commands nvidia-smi and forewarm-agent.
	smi, binary string
	// address is the agent's, began when it was started.
	address string
	began   time.Time
	// alone is what each kind does in a second, alone and all the time.
	alone map[string]float64
}

// play runs a scenario and prints its rows.
func (c *check) play(ctx context.Context, s scenario) (err error) {
	var env []string
	if s.mps {
		stop, own, failed := startMPS(ctx, c.node.folder)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, stop()) }()
		env = own
	}
	pods := s.pods()
	c.node.pods.Store(&pods)
	all := make([]*process, len(s.loads))
	defer func() {
		for _, p := range all {
			p.kill()
		}
	}()
	for i, l := range s.loads {
		if all[i], err = c.start(ctx, l, env); err != nil {
			return err
		}
	}
	// Two seconds after the start all loads are at work.
	pause(ctx, 2*time.Second)
	seen := c.watch(ctx)
	of, err := c.read(ctx)
	if err != nil {
		return err
	}
	for _, p := range all {
		if err := p.wait(); err != nil {
			return err
		}
		if rate := p.did.Units / p.did.Seconds; len(all) == 1 && p.share == 1 {
			c.alone[p.kind] = rate
		}
	}
	c.print(s, all, of, seen)
	return nil
}

// startMPS starts the control daemon of MPS, and returns what a client's environment needs.
func startMPS(ctx context.Context, folder string) (stop func() error, env []string, err error) {
	control, err := exec.LookPath("nvidia-cuda-mps-control")
	if err != nil {
		return nil, nil, err
	}
	env = []string{"CUDA_MPS_PIPE_DIRECTORY=" + folder, "CUDA_MPS_LOG_DIRECTORY=" + folder}
	call := func(stdin string, args ...string) error {
		command := exec.CommandContext(ctx, control, args...)
		command.Env, command.Stdin = append(os.Environ(), env...), strings.NewReader(stdin)
		return command.Run()
	}
	return func() error { return call("quit\n") }, env, call("", "-d")
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func output(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	return strings.TrimSpace(string(out)), err
}
