package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// build is what is built.
type build struct {
	root, version string
	platforms     []string
	// created and revision are the commit's: what is built from it is as old, whenever it is built.
	created  time.Time
	revision string
}

// binary builds the server for a platform, OS/ARCH, and returns the file.
func (b build) binary(ctx context.Context, platform, folder string) (string, error) {
	system, machine, ok := strings.Cut(platform, "/")
	if !ok {
		return "", fmt.Errorf("--platform %q is not OS/ARCH: write for example linux/arm64", platform)
	}
	file := filepath.Join(folder, system, machine, program(system))
	if _, err := os.Stat(file); err == nil {
		return file, nil // A release has built it for its archive.
	}
	// Nothing of this machine gets into the binary: no paths, no cgo, no time, no state of the working tree.
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -X main.version="+b.version, "-o", file, "./cmd/forewarm")
	command.Dir = b.root
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+machine, "GOFLAGS=", "GOAMD64=v1",
		"GOARM64=v8.0")
	var stderr bytes.Buffer
	command.Stderr = &stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("go build for %s: %w: %s", platform, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return file, nil
}

// program is the name of the binary.
func program(system string) string {
	if system == "windows" {
		return "forewarm.exe"
	}
	return "forewarm"
}

// epoch is the variable by which reproducible builds are told how old their sources are, in seconds.
const epoch = "SOURCE_DATE_EPOCH"

// commit is when the commit was made, and its hash. Without a clone the time is that of epoch, and the hash is unknown.
func (b build) commit(ctx context.Context) (created time.Time, revision string, err error) {
	text, err := b.git(ctx, "log", "-1", "--format=%ct %H")
	if err != nil {
		if text = os.Getenv(epoch); text == "" {
			return time.Time{}, "", fmt.Errorf("%w, or set %s", err, epoch)
		}
		text += " unknown"
	}
	at, revision, _ := strings.Cut(text, " ")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return time.Time{}, "", fmt.Errorf("the time of the commit: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), revision, nil
}

func (b build) git(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = b.root
	text, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: build from a clone of the repository", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(text)), nil
}
