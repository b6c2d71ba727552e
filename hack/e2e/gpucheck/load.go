//go:build cgo

package main

// #cgo LDFLAGS: -ldl
// #include "load.h"
import "C"

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// The kinds of load, by the unit of the GPU that they keep busy.
const (
	shaders = "shaders"
	tensors = "tensors"
	memory  = "memory"
	nothing = "nothing"
)

// Every thread repeats a chain of instructions. What it stores is never read, and keeps the compiler from leaving it out.
const (
	header = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry %s(.param .u64 out, .param .u32 rounds) {\n" +
		".reg .pred %%again;\n.reg .f32 %%f<4>;\n.reg .b32 %%r<8>;\n.reg .b64 %%at<3>;\n" +
		"ld.param.u64 %%at1, [out];\ncvta.to.global.u64 %%at2, %%at1;\nld.param.u32 %%r0, [rounds];\nmov.u32 %%r1, 0;\n" +
		"mov.f32 %%f0, 0f3F800000;\nmov.f32 %%f1, 0f3F800000;\nmov.f32 %%f2, 0f3F800000;\nmov.f32 %%f3, 0f3F800000;\n" +
		"mov.b32 %%r2, 0;\nmov.b32 %%r3, 0;\nmov.b32 %%r4, 0;\nmov.b32 %%r5, 0;\nmov.b32 %%r6, 0;\nmov.b32 %%r7, 0;\n" +
		"more:\n%s" +
		"add.u32 %%r1, %%r1, 1;\nsetp.lt.u32 %%again, %%r1, %%r0;\n@%%again bra more;\nst.global.f32 [%%at2], %%f0;\nret;\n}\n"
	multiply = "fma.rn.f32 %f0, %f0, %f1, %f2;\n"
	product  = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r2, %r3, %r4, %r5}, {%r6, %r7}, " +
		"{%f0, %f1, %f2, %f3};\n"
)

// bufferSize is larger than any cache.
const bufferSize = 1 << 30

// unitTime is about how long a piece of work takes on an idle GPU.
const unitTime = 5 * time.Millisecond

// did is what a load did: pieces of work, and the time that it lasted.
type did struct {
	Units   float64 `json:"units"`
	Seconds float64 `json:"seconds"`
}

// runLoad keeps the first GPU busy for a share of the time, and prints what it did.
func runLoad(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 3 {
		return errors.New("want: load KIND SHARE SECONDS")
	}
	kind := args[0]
	share, wrong := strconv.ParseFloat(args[1], 64)
	seconds, err := strconv.ParseFloat(args[2], 64)
	if wrong != nil || err != nil || !(share > 0 && share <= 1) {
		return fmt.Errorf("load %s: share %q of %q seconds: want a share above 0, at most 1", kind, args[1], args[2])
	}
	// The driver's context belongs to the thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	work, err := unit(kind)
	if err != nil {
		return fmt.Errorf("load %s: %w", kind, err)
	}
	ctx, stop := context.WithTimeout(ctx, time.Duration(seconds*float64(time.Second)))
	defer stop()
	began, done := time.Now(), did{}
	for ctx.Err() == nil {
		from := time.Now()
		units, err := burst(work)
		if err != nil {
			return fmt.Errorf("load %s: %w", kind, err)
		}
		done.Units += units
		if share < 1 {
			pause(ctx, time.Duration(float64(time.Since(from))*(1/share-1)))
		}
	}
	done.Seconds = time.Since(began).Seconds()
	return json.NewEncoder(out).Encode(done)
}

// burst works for 30 to 90 ms, and returns how much. Its length varies: the driver looks at regular times which process is at work.
func burst(work func() (float64, error)) (float64, error) {
	began, length := time.Now(), time.Duration(30+rand.IntN(60))*time.Millisecond //nolint:gosec // It is no secret.
	for done := 0.0; ; {
		units, err := work()
		if done += units; err != nil || time.Since(began) > length {
			return done, err
		}
	}
}

// unit prepares a piece of work of a kind. The work that it did counts in rounds, or in copies of the buffer.
func unit(kind string) (func() (float64, error), error) {
	chain := map[string]string{shaders: multiply, tensors: product}[kind]
	switch {
	case kind == memory:
		copied := func() (float64, error) { return 1, problem(C.move(bufferSize)) }
		return copied, problem(C.prepare(nil, nil, bufferSize))
	case kind == nothing:
		idle := func() (float64, error) { time.Sleep(time.Millisecond); return 0, nil }
		return idle, problem(C.prepare(nil, nil, 1<<20))
	case chain == "":
		return nil, fmt.Errorf("want one of %s, %s, %s, %s", shaders, tensors, memory, nothing)
	}
	ptx := C.CString(fmt.Sprintf(header, kind, strings.Repeat(chain, 16)))
	err := problem(C.prepare(ptx, C.CString(kind), 1<<20))
	if err != nil {
		return nil, err
	}
	rounds := uint32(64)
	for {
		began := time.Now()
		err = problem(C.compute(C.uint32_t(rounds)))
		if err != nil {
			return nil, err
		}
		// The first launch loads the kernel.
		if rounds > 64 && time.Since(began) > unitTime/2 || rounds > 1<<28 {
			return func() (float64, error) { return float64(rounds), problem(C.compute(C.uint32_t(rounds))) }, nil
		}
		rounds *= 2
	}
}

func problem(message *C.char) error {
	if message == nil {
		return nil
	}
	return errors.New(C.GoString(message))
}
