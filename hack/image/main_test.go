package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

const root = "../.."

func TestMain(m *testing.M) {
	if exec.Command("git", "-C", root, "log", "-1").Run() != nil { // An unpacked archive.
		if err := os.Setenv(epoch, "1700000000"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// made runs the command and returns its folder and what it says.
func made(t *testing.T, args ...string) (layoutFolder, said string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "image")
	var out bytes.Buffer
	if err := run(
		t.Context(), append([]string{"--out", folder, "--root", root, "--version", "v0.0.1"}, args...), &out,
	); err != nil {
		t.Fatal(err)
	}
	return folder, out.String()
}

//nolint:ireturn // The library's type.
func read(t *testing.T, folder string) v1.ImageIndex {
	t.Helper()
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

// forPlatform is the image for an architecture.
//
//nolint:ireturn // The library's type.
func forPlatform(t *testing.T, index v1.ImageIndex, machine string) v1.Image {
	t.Helper()
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range manifest.Manifests {
		if d.Platform.OS == "linux" && d.Platform.Architecture == machine {
			image, err := index.Image(d.Digest)
			if err != nil {
				t.Fatal(err)
			}
			return image
		}
	}
	t.Fatalf("no image for %s in %+v", machine, manifest.Manifests)
	return nil
}

// elsewhere is the same commit in another folder; the same folder where that cannot be had.
func elsewhere(t *testing.T) string {
	t.Helper()
	clone := filepath.Join(t.TempDir(), "elsewhere", "forewarm")
	out, err := exec.CommandContext(t.Context(), "git", "-C", root, "status", "--porcelain").Output()
	if err == nil && len(out) == 0 {
		err = exec.CommandContext(t.Context(), "git", "clone", "-q", root, clone).Run()
	}
	if err != nil || len(out) > 0 {
		t.Logf("NOT TESTED: a build in another folder: this one is no clone, or differs from its commit (%v): %s",
			err, out)
		return root
	}
	return clone
}

// The same commit gives the same bytes, whatever folder it is in, for both architectures.
func TestReproducible(t *testing.T) {
	clone := elsewhere(t)
	one, said := made(t)
	other, _ := made(t, "--root", clone)
	first, err1 := os.ReadFile(filepath.Join(one, "index.json"))
	second, err2 := os.ReadFile(filepath.Join(other, "index.json"))
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Errorf("two builds give\n%s\nand\n%s", first, second)
	}
	digest, err := read(t, one).Digest()
	if err != nil || !strings.Contains(said, digest.String()) {
		t.Errorf("it says %s, not the digest %s (%v)", said, digest, err)
	}
	t.Log(said)
	for _, machine := range []string{"amd64", "arm64"} {
		image := forPlatform(t, read(t, one), machine)
		if err := validate.Image(image); err != nil {
			t.Errorf("%s: %v", machine, err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.Architecture != machine || config.Config.User != "65532:65532" ||
			config.Config.Labels["org.opencontainers.image.version"] != "v0.0.1" ||
			config.Config.Labels["org.opencontainers.image.revision"] == "" {
			t.Errorf("%s: %+v", machine, config)
		}
		if n, err := size(image); err != nil || n > 40e6 {
			t.Errorf("%s: %d bytes are pulled (%v)", machine, n, err)
		}
		modules(t, one+".linux-"+machine+".cdx.json")
	}
}

// modules: the SBOM has what go.mod requires, in the version that is in the binary.
func modules(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	bom := new(cdx.BOM)
	if err := cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(bom); err != nil {
		t.Fatal(err)
	}
	if bom.Metadata.Component.Version != "v0.0.1" || len(*bom.Components) < 50 {
		t.Errorf("%s: %+v with %d modules", file, bom.Metadata.Component, len(*bom.Components))
	}
	for _, path := range []string{"gonum.org/v1/gonum", "sigs.k8s.io/custom-metrics-apiserver"} {
		command := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}", path)
		command.Dir = root
		version, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		want := "pkg:golang/" + path + "@" + strings.TrimSpace(string(version))
		if !slices.ContainsFunc(*bom.Components, func(c cdx.Component) bool { return c.PackageURL == want }) {
			t.Errorf("%s does not have %s", file, want)
		}
	}
}

// unpack writes an image's files as a container runtime would, and checks that only root could change one.
func unpack(t *testing.T, image v1.Image) string {
	t.Helper()
	folder := t.TempDir()
	files := mutate.Extract(image)
	defer files.Close() //nolint:errcheck // Read only.
	for all := tar.NewReader(files); ; {
		header, err := all.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Mode&0o222 != 0 || header.Uid != 0 || header.Mode&(syscall.S_ISUID|syscall.S_ISGID) != 0 {
			t.Errorf("%s has mode %o and belongs to %d", header.Name, header.Mode, header.Uid)
		}
		path := filepath.Join(folder, header.Name)
		if header.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			var content []byte
			if content, err = io.ReadAll(all); err == nil {
				err = os.WriteFile(path, content, os.FileMode(header.Mode))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// The image's files, alone, unpacked, as a user that may write nowhere: the version is told and a server serves.
func TestRuns(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: only root can run the unpacked image as another user in a root of its own")
	}
	folder, _ := made(t, "--platform", "linux/amd64")
	files := unpack(t, forPlatform(t, read(t, folder), "amd64"))
	closeToOthers(t, files)
	contained := func(ctx context.Context, args ...string) *exec.Cmd {
		command := exec.CommandContext(ctx, "/forewarm", args...)
		command.Dir, command.Env = "/", []string{"SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"}
		command.SysProcAttr = &syscall.SysProcAttr{
			Chroot: files, Credential: &syscall.Credential{Uid: user, Gid: user}, Pdeathsig: syscall.SIGKILL,
		}
		return command
	}
	if out, err := contained(t.Context(), "version").CombinedOutput(); err != nil ||
		!strings.Contains(string(out), "v0.0.1") {
		t.Errorf("%v: %s", err, out)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	server := contained(ctx, "serve", "--standalone", "--port=0", "--config-dir=/etc",
		"--prometheus-url=https://127.0.0.1:9")
	output, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	serves := false
	for lines := bufio.NewScanner(output); !serves && lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		serves = strings.Contains(lines.Text(), "serving") && strings.Contains(lines.Text(), "127.0.0.1")
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	go io.Copy(io.Discard, output) //nolint:errcheck // So that it can end.
	if err := server.Wait(); err != nil || !serves {
		t.Errorf("it ended with %v and said\n%s", err, &said)
	}
}

// closeToOthers lets every user read a folder of a test, and only root write to it.
func closeToOthers(t *testing.T, folder string) {
	t.Helper()
	for path := folder; path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
		if err := os.Chmod(path, 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := os.Chmod(path, 0o755); err != nil { // So that it can be removed.
				t.Error(err)
			}
		})
	}
}

// What is pushed is what was built, with a signature that the key's owner can be recognised by.
func TestPush(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.pem")
	if err = os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	to := strings.TrimPrefix(server.URL, "http://") + "/platform/forewarm:v0.0.1"
	folder, _ := made(t, "--platform", "linux/amd64", "--push", to, "--plain-http", "--key", file)
	built, err := read(t, folder).IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	reference, err := name.ParseReference(to, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	pushed, err := remote.Index(reference, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := pushed.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 || manifest.Manifests[0].Digest != built.Manifests[0].Digest {
		t.Errorf("pushed %+v, built %+v", manifest.Manifests, built.Manifests)
	}
	digest, err := pushed.Digest()
	if err != nil {
		t.Fatal(err)
	}
	checkSignature(t, reference, digest, &key.PublicKey)
}

func checkSignature(t *testing.T, reference name.Reference, digest v1.Hash, key *ecdsa.PublicKey) {
	t.Helper()
	signature, err := remote.Image(reference.Context().Tag("sha256-" + digest.Hex + ".sig"))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := signature.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	layer, err := signature.LayerByDigest(manifest.Layers[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	content, err := layer.Compressed()
	if err != nil {
		t.Fatal(err)
	}
	signed, err := io.ReadAll(content)
	if err != nil {
		t.Fatal(err)
	}
	by, err := base64.StdEncoding.DecodeString(manifest.Layers[0].Annotations[signatureAnnotation])
	hash := sha256.Sum256(signed)
	if err != nil || !ecdsa.VerifyASN1(key, hash[:], by) {
		t.Errorf("the signature is not the key's (%v)", err)
	}
	var said struct {
		Critical struct {
			Image struct {
				Digest string `json:"docker-manifest-digest"`
			} `json:"image"`
		} `json:"critical"`
	}
	if err := json.Unmarshal(signed, &said); err != nil || said.Critical.Image.Digest != digest.String() {
		t.Errorf("%s is signed (%v), want %s", signed, err, digest)
	}
}

func TestErrors(t *testing.T) {
	t.Setenv(epoch, "")
	text := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(text, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := (&options{build: build{root: root}}).part(t.Context(), "windows/amd64", io.Discard)
	if err == nil || !strings.Contains(err.Error(), "is not linux/ARCH") {
		t.Errorf("%v", err)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"is not PEM", []string{"--key", text}},
		{"--key: open nowhere", []string{"--key", "nowhere"}},
		{"everything is a flag", []string{"push"}},
		{"build from a clone", []string{"--root", t.TempDir()}},
	} {
		args := append([]string{"--root", root, "--out", filepath.Join(t.TempDir(), "image")}, c.args...)
		if err := run(t.Context(), args, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
}
