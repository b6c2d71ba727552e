package clustertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// ErrNoHistory means that the checkout does not have a commit, for example because it is shallow.
var ErrNoHistory = errors.New("this checkout does not have the commit: git fetch --unshallow")

// Version is an earlier Forewarm, built from its commit.
type Version struct {
	// Root is its source, with its manifests.
	Root   string
	binary string
}

// BuildVersion builds the Forewarm of a commit in a folder.
func BuildVersion(ctx context.Context, root, commit, folder string) (Version, error) {
	if _, err := runCommand(ctx, root, "git", "cat-file", "-e", commit+"^{commit}"); err != nil {
		return Version{}, fmt.Errorf("%s: %w", commit, ErrNoHistory)
	}
	archive := filepath.Join(folder, "source.tar")
	if _, err := runCommand(ctx, root, "git", "archive", "--output="+archive, commit); err != nil {
		return Version{}, err
	}
	v := Version{Root: filepath.Join(folder, "source"), binary: filepath.Join(folder, "forewarm")}
	if err := os.Mkdir(v.Root, 0o750); err != nil {
		return Version{}, fmt.Errorf("unpack %s: %w", commit, err)
	}
	if _, err := runCommand(ctx, v.Root, "tar", "-xf", archive); err != nil {
		return Version{}, err
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", v.binary, "./cmd/forewarm")
	build.Dir, build.Env = v.Root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return Version{}, fmt.Errorf("build %s: %w: %s", commit, err, out)
	}
	return v, nil
}

// StartVersion is StartForewarm for an earlier version.
func (c *Cluster) StartVersion(ctx context.Context, v Version, name string, args ...string) (*Replica, error) {
	return c.startForewarm(ctx, name, v.binary, nil, append(args, c.servicePort())...)
}
