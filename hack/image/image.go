package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is a user other than root. Distroless images and the Kubernetes documentation use the same one.
const user = 65532

// part is the image of a platform.
type part struct {
	platform string
	image    v1.Image
}

// entry is a file of a layer, or a folder if the name ends with a slash. All entries belong to root, and other users cannot write them.
type entry struct {
	name    string
	mode    int64
	content []byte
}

// build describes what is built.
type build struct {
	root, version string
	platforms     []string
	// created and revision are those of the commit. The result has this time, whenever it is built.
	created  time.Time
	revision string
}

// newImage has a layer that rarely changes, with what every program expects, and one with the binary.
//
//nolint:ireturn // The library's type.
func (b build) newImage(binary, platform string) (v1.Image, error) {
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("read the binary: %w", err)
	}
	var layers []mutate.Addendum
	for _, l := range []struct {
		by      string
		entries []entry
	}{
		{"certificate authorities of the web, users", base()},
		{"go build ./cmd/forewarm", []entry{{name: "forewarm", mode: 0o555, content: program}}},
	} {
		made := mutate.Addendum{
			History: v1.History{CreatedBy: l.by, Created: v1.Time{Time: b.created}}, MediaType: types.OCILayer,
		}
		if made.Layer, err = b.newLayer(l.entries); err != nil {
			return nil, err
		}
		layers = append(layers, made)
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.Append(image, layers...); err != nil {
		return nil, fmt.Errorf("make an image: %w", err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("make an image: %w", err)
	}
	config = config.DeepCopy()
	on, err := v1.ParsePlatform(platform)
	if err != nil {
		return nil, fmt.Errorf("make an image: %w", err)
	}
	config.OS, config.Architecture, config.Created = on.OS, on.Architecture, v1.Time{Time: b.created}
	config.Config = v1.Config{
		Entrypoint: []string{"/forewarm"},
		User:       fmt.Sprintf("%d:%d", user, user),
		WorkingDir: "/",
		Env:        []string{"SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"},
		Labels:     b.labels(),
	}
	return mutate.ConfigFile(image, config)
}

// labels returns the labels of the OCI image specification.
func (b build) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":         "forewarm",
		"org.opencontainers.image.description":   "Predictive autoscaler for GPU inference on Kubernetes",
		"org.opencontainers.image.source":        "https://github.com/forewarm/forewarm",
		"org.opencontainers.image.documentation": "https://github.com/forewarm/forewarm/tree/main/docs",
		"org.opencontainers.image.licenses":      "Apache-2.0",
		"org.opencontainers.image.version":       b.version,
		"org.opencontainers.image.revision":      b.revision,
		"org.opencontainers.image.created":       b.created.Format(time.RFC3339),
	}
}

// base returns the authorities with which Forewarm verifies a Prometheus outside the cluster, and the names of its user.
func base() []entry {
	var roots []byte
	for root := range bundle.Roots() {
		roots = append(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})...)
	}
	return []entry{
		{name: "etc/", mode: 0o555},
		{name: "etc/group", mode: 0o444, content: fmt.Appendf(nil, "root:x:0:\nnonroot:x:%d:\n", user)},
		{name: "etc/passwd", mode: 0o444, content: fmt.Appendf(nil,
			"root:x:0:0:root:/:/sbin/nologin\nnonroot:x:%d:%d:nonroot:/:/sbin/nologin\n", user, user)},
		{name: "etc/ssl/", mode: 0o555},
		{name: "etc/ssl/certs/", mode: 0o555},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o444, content: roots},
	}
}

// newLayer is a layer of files that are as old as the commit.
//
//nolint:ireturn // The library's type.
func (b build) newLayer(entries []entry) (v1.Layer, error) {
	var text bytes.Buffer
	if err := b.writeTar(&text, entries); err != nil {
		return nil, fmt.Errorf("make a layer: %w", err)
	}
	return tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer),
	)
}

// writeTar writes files with the time of the commit.
func (b build) writeTar(out io.Writer, entries []entry) error {
	w := tar.NewWriter(out)
	for _, e := range entries {
		header := &tar.Header{
			Name: e.name, Mode: e.mode, Size: int64(len(e.content)), ModTime: b.created, Format: tar.FormatPAX,
		}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		if _, err := w.Write(e.content); err != nil {
			return err
		}
	}
	return w.Close()
}

// newIndex has the image of every platform.
//
//nolint:ireturn // The library's type.
func (b build) newIndex(parts []part) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range parts {
		on, err := v1.ParsePlatform(p.platform)
		if err != nil {
			return nil, fmt.Errorf("make an index: %w", err)
		}
		index = mutate.AppendManifests(index,
			mutate.IndexAddendum{Add: p.image, Descriptor: v1.Descriptor{Platform: on}})
	}
	annotated, ok := mutate.Annotations(index, b.labels()).(v1.ImageIndex)
	if !ok {
		return nil, fmt.Errorf("make an index: annotations make a %T of it", annotated)
	}
	return annotated, nil
}

// size returns the total size of all layers, compressed.
func size(image v1.Image) (int64, error) {
	layers, err := image.Layers()
	if err != nil {
		return 0, fmt.Errorf("read an image: %w", err)
	}
	var sum int64
	for _, l := range layers {
		n, err := l.Size()
		if err != nil {
			return 0, fmt.Errorf("read an image: %w", err)
		}
		sum += n
	}
	return sum, nil
}

// binary builds the server for a platform, OS/ARCH, and returns the file.
func (b build) binary(ctx context.Context, platform, folder string) (string, error) {
	system, machine, ok := strings.Cut(platform, "/")
	if !ok {
		return "", fmt.Errorf("--platform %q is not OS/ARCH: write for example linux/arm64", platform)
	}
	file := filepath.Join(folder, system, machine, program(system))
	if _, err := os.Stat(file); err == nil {
		return file, nil // A release has already built it for its archive.
	}
	// The binary contains nothing about this machine: no paths, no cgo, no time, no state of the working tree.
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

// program returns the name of the binary.
func program(system string) string {
	if system == "windows" {
		return "forewarm.exe"
	}
	return "forewarm"
}

// epoch is the environment variable that tells reproducible builds the time of their sources, in seconds.
const epoch = "SOURCE_DATE_EPOCH"

// commit returns the time and the hash of the commit. Without a clone, the time is that of epoch, and the hash is unknown.
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

// tarGz returns an archive of files with the time of the commit.
func (b build) tarGz(entries []entry) ([]byte, error) {
	var text bytes.Buffer
	w := gzip.NewWriter(&text)
	err := errors.Join(b.writeTar(w, entries), w.Close())
	return text.Bytes(), err
}

// readFolder reads the files in a folder and its subfolders, in the order of their names. It skips files and folders whose names match a
// pattern.
func readFolder(folder string, ignored ...string) ([]entry, error) {
	var entries []entry
	err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		matches := func(pattern string) bool {
			found, malformed := path.Match(strings.TrimSuffix(pattern, "/"), d.Name())
			return found && malformed == nil
		}
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.ContainsFunc(ignored, matches):
			return fs.SkipDir
		case d.IsDir(), slices.ContainsFunc(ignored, matches):
			return nil
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, file)
		entries = append(entries, entry{name: filepath.ToSlash(name), mode: 0o644, content: content})
		return err
	})
	return entries, err
}

var chartVersions = regexp.MustCompile(`(?m)^version:.*\nappVersion:.*$`)

// chart returns the package of the chart with the release's version, as "helm package" creates it, but with the time of the commit.
func (b build) chart() ([]byte, error) {
	folder := filepath.Join(b.root, "deploy", "charts", "forewarm")
	ignored, err := os.ReadFile(filepath.Join(folder, ".helmignore"))
	if err != nil {
		return nil, fmt.Errorf("read the chart: %w", err)
	}
	files, err := readFolder(folder, strings.Fields(string(ignored))...)
	if err != nil {
		return nil, fmt.Errorf("read the chart: %w", err)
	}
	for i := range files {
		if files[i].name == "Chart.yaml" {
			own := "version: " + strings.TrimPrefix(b.version, "v") + "\nappVersion: " + b.version
			files[i].content = chartVersions.ReplaceAllLiteral(files[i].content, []byte(own))
		}
		files[i].name = "forewarm/" + files[i].name
	}
	return b.tarGz(files)
}
