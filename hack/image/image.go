package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is not root; distroless images and Kubernetes' documentation use this one.
const user = 65532

// part is the image of a platform.
type part struct {
	platform string
	image    v1.Image
}

// entry is a file of a layer, or a folder where the name ends with a slash. All belong to root, and nobody may write.
type entry struct {
	name    string
	mode    int64
	content []byte
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

// labels are those of the OCI image specification.
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

// base is the authorities by which Forewarm verifies a Prometheus outside the cluster, and the names of its user.
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

// writeTar writes files that are as old as the commit.
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

// size is that of all layers, as they are pulled.
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
