package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Krew's manifest has the fields that krew asks for, a platform for each archive.
func TestKrewManifest(t *testing.T) {
	text, err := krewManifest("v1.2.3", []archive{
		{"linux", "arm64", "forewarm", "a.tar.gz", "0123"}, {"windows", "amd64", "forewarm.exe", "b.tar.gz", "4567"},
	})
	var got, want map[string]any
	const folder = "https://github.com/forewarm/forewarm/releases/download/v1.2.3/"
	if err = errors.Join(err, yaml.Unmarshal(text, &got), yaml.Unmarshal([]byte(`
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata: {name: forewarm}
spec:
  version: v1.2.3
  homepage: https://github.com/forewarm/forewarm
  platforms:
  - {selector: {matchLabels: {os: linux, arch: arm64}}, uri: `+folder+`a.tar.gz, sha256: "0123", bin: forewarm}
  - {selector: {matchLabels: {os: windows, arch: amd64}}, uri: `+folder+`b.tar.gz, sha256: "4567", bin: forewarm.exe}
`), &want)); err != nil {
		t.Fatal(err)
	}
	if spec, ok := got["spec"].(map[string]any); ok && spec["shortDescription"] != nil && spec["description"] != nil {
		delete(spec, "shortDescription")
		delete(spec, "description")
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("krew's manifest is %v, want %v", got, want)
	}
}

// The same commit gives the same bytes, and krew's manifest has the hash of the archive.
func TestRelease(t *testing.T) {
	if os.Getenv("FOREWARM_RELEASE") == "" {
		t.Skip("FOREWARM_RELEASE is unset: make test-release sets it; two releases of one platform take minutes")
	}
	var sums [2]string
	var folder string
	for i := range sums {
		folder = t.TempDir()
		args := []string{"release", "--dry-run", "--root", root, "--platform", "linux/amd64", "--out", folder}
		if err := run(t.Context(), args, io.Discard); err != nil {
			t.Fatal(err)
		}
		sums[i] = contents(t, folder, "SHA256SUMS")
	}
	if sums[0] != sums[1] || !strings.Contains(sums[0], "NOTES.md") {
		t.Errorf("two builds give\n%s\nand\n%s", sums[0], sums[1])
	}
	_, version, _ := strings.Cut(contents(t, folder, "forewarm.yaml"), "\n  version: ")
	version, _, _ = strings.Cut(version, "\n")
	name := "forewarm_" + version + "_linux_amd64.tar.gz"
	want := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256([]byte(contents(t, folder, name)))))
	if got := contents(t, folder, "forewarm.yaml"); !tagForm.MatchString(version) || !strings.Contains(got, want) {
		t.Errorf("krew's manifest has not %s of %s:\n%s", want, name, got)
	}
	for file, want := range map[string]string{
		name: "forewarm\nLICENSE\n", "forewarm-" + version[1:] + ".tgz": "forewarm/Chart.yaml\nforewarm/README.md\nforewarm/files/",
	} {
		list, err := exec.CommandContext(t.Context(), "tar", "-tzf", filepath.Join(folder, file)).Output()
		if err != nil || !strings.Contains(string(list), want) || strings.Contains(string(list), "/tests/") {
			t.Errorf("%s has\n%s (%v), want %q", file, list, err, want)
		}
	}
	chart(t, filepath.Join(folder, "forewarm-"+version[1:]+".tgz"), version)
}

// chart: Helm takes the package, and its image has the release's tag.
func chart(t *testing.T, file, version string) {
	t.Helper()
	helm, err := exec.CommandContext(t.Context(), "../components/build.sh", "--built", "helm", "helm").Output()
	if err != nil {
		t.Log("NOT TESTED: the chart with helm, which is not built")
		return
	}
	command := exec.CommandContext(t.Context(), filepath.Join(strings.TrimSpace(string(helm)), "helm"), "template",
		file, "--set", "image.repository=example.com/forewarm,prometheus.url=http://x:9090")
	if text, err := command.CombinedOutput(); err != nil ||
		!strings.Contains(string(text), "example.com/forewarm:"+version) {
		t.Errorf("helm template: %v\n%.2000s", err, text)
	}
}

func contents(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A release is a tagged commit without changes, of which CHANGELOG.md has a section.
func TestReleaseRefuses(t *testing.T) {
	folder := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	refused := func(want string) {
		t.Helper()
		err := run(t.Context(), []string{"release", "--root", folder, "--out", t.TempDir()}, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, "CHANGELOG.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	write("# Changelog\n\n## [1.2.0] - 2026-01-01\n\n- old\n")
	git("add", ".")
	git("commit", "-qm", "a")
	refused("this commit has no tag")
	git("tag", "vnext")
	refused("the tag vnext is no version")
	git("tag", "-d", "vnext")
	git("tag", "v1.3.0")
	refused("CHANGELOG.md says nothing of 1.3.0")
	write("# Changelog\n\n## [1.3.0] - 2026-02-01\n\n- new\n\n## [1.2.0]\n\n- old\n")
	refused("the working tree differs from its commit")
	git("commit", "-qam", "b")
	git("tag", "-f", "v1.3.0")
	r := release{options: options{build: build{root: folder}}}
	if notes, err := r.resolve(t.Context()); err != nil || string(notes) != "- new\n" || r.build.version != "v1.3.0" {
		t.Errorf("%s: %q, %v", r.build.version, notes, err)
	}
}
