package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"text/template"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/spf13/pflag"
)

// release is everything that is published for a version: archives with the binary for each platform, their SBOMs, the image as an OCI
// layout, the chart, krew's manifest, the notes, and the hashes of all of these.
type release struct {
	options

	dryRun   bool
	archives []archive
}

func runRelease(ctx context.Context, args []string, out io.Writer) (err error) {
	var r release
	flags := pflag.NewFlagSet("image release", pflag.ContinueOnError)
	flags.StringVar(&r.out, "out", "bin/release", "folder of the release, which is replaced")
	flags.StringVar(&r.build.root, "root", ".", "folder of the repository")
	flags.StringSliceVar(&r.build.platforms, "platform", []string{
		"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64",
	}, "platforms to build for")
	flags.StringVar(&r.key, "key", "", "file of a private key, PEM (PKCS #8, ECDSA), to sign the image by")
	flags.BoolVar(&r.dryRun, "dry-run", false, "release what is there, without a tag")
	if err = flags.Parse(args); err != nil {
		return err
	}
	notes, err := r.resolve(ctx)
	if err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "forewarm-release-"); err != nil {
		return fmt.Errorf("write the release: %w", err)
	}
	defer os.RemoveAll(r.work) //nolint:errcheck // It lies in the folder of temporary files.
	if err = errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o755)); err != nil {
		return fmt.Errorf("write the release: %w", err)
	}
	return r.write(ctx, notes, out)
}

// resolve finds the version and its notes.
func (r *release) resolve(ctx context.Context) (notes []byte, err error) {
	if r.build.created, r.build.revision, err = r.build.commit(ctx); err != nil {
		return nil, err
	}
	heading := "Unreleased"
	if r.dryRun {
		r.build.version = "v0.0.0-dev.g" + r.build.revision[:min(12, len(r.build.revision))]
	} else {
		if r.build.version, err = r.build.tag(ctx); err != nil {
			return nil, err
		}
		heading = strings.TrimPrefix(r.build.version, "v")
	}
	changes, err := os.ReadFile(filepath.Join(r.build.root, "CHANGELOG.md"))
	if err != nil {
		return nil, fmt.Errorf("read the notes: %w", err)
	}
	_, text, found := strings.Cut(string(changes), "\n## ["+heading+"]")
	_, text, _ = strings.Cut(text, "\n") // The rest of the heading is the date.
	text, _, _ = strings.Cut(text, "\n## ")
	if text = strings.TrimSpace(text); !found || text == "" {
		return nil, fmt.Errorf("CHANGELOG.md says nothing of %s: write a section ## [%[1]s] - YYYY-MM-DD", heading)
	}
	return []byte(text + "\n"), nil
}

var tagForm = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// tag returns the version from the tag of the commit that is checked out. The working tree must not have changes.
func (b build) tag(ctx context.Context) (string, error) {
	changed, err := b.git(ctx, "status", "--porcelain")
	if err != nil {
		return "", err
	}
	if changed != "" {
		return "", fmt.Errorf("the working tree differs from its commit: commit or stash, or set DRY_RUN=1:\n%s",
			changed)
	}
	tag, err := b.git(ctx, "describe", "--tags", "--exact-match", "--match", "v*")
	if err != nil {
		return "", fmt.Errorf("this commit has no tag: git tag -a v1.2.3, or set DRY_RUN=1: %w", err)
	}
	if !tagForm.MatchString(tag) {
		return "", fmt.Errorf("the tag %s is no version: write for example v1.2.3", tag)
	}
	return tag, nil
}

func (r *release) write(ctx context.Context, notes []byte, out io.Writer) error {
	for _, platform := range r.build.platforms {
		if err := r.archive(ctx, platform); err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		fmt.Fprintln(out, r.archives[len(r.archives)-1].File)
	}
	chart, err := r.build.chart()
	if err != nil {
		return fmt.Errorf("package the chart: %w", err)
	}
	manifest, err := krewManifest(r.build.version, r.archives)
	if err != nil {
		return err
	}
	image := r.options
	image.out = filepath.Join(r.out, "image")
	image.build.platforms = slices.DeleteFunc(slices.Clone(r.build.platforms), func(platform string) bool {
		return !strings.HasPrefix(platform, "linux/")
	})
	if err = errors.Join(
		r.file("NOTES.md", notes), r.file("forewarm-"+strings.TrimPrefix(r.build.version, "v")+".tgz", chart),
		r.file("forewarm.yaml", manifest), image.run(ctx, out),
	); err != nil {
		return err
	}
	files, err := readFolder(r.out)
	if err != nil {
		return fmt.Errorf("read the release: %w", err)
	}
	var sums strings.Builder
	for _, f := range files {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(f.content), f.name)
	}
	fmt.Fprintf(out, "%s: %s, %d files\n", r.out, r.build.version, len(files))
	return r.file("SHA256SUMS", []byte(sums.String()))
}

func (r *release) file(name string, content []byte) error {
	if err := os.WriteFile(filepath.Join(r.out, name), content, 0o644); err != nil {
		return fmt.Errorf("write the release: %w", err)
	}
	return nil
}

// archive writes the archive of a platform and its SBOM.
func (r *release) archive(ctx context.Context, platform string) error {
	binary, err := r.build.binary(ctx, platform, r.work)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(binary)
	license, problem := os.ReadFile(filepath.Join(r.build.root, "LICENSE"))
	if err = errors.Join(err, problem); err != nil {
		return err
	}
	system, machine, _ := strings.Cut(platform, "/")
	base := "forewarm_" + r.build.version + "_" + system + "_" + machine
	name := base + ".tar.gz"
	text, err := r.build.tarGz([]entry{{program(system), 0o755, content}, {"LICENSE", 0o644, license}})
	if err != nil {
		return fmt.Errorf("make an archive: %w", err)
	}
	r.archives = append(r.archives, archive{
		System: system, Machine: machine, Program: program(system), File: name,
		SHA256: fmt.Sprintf("%x", sha256.Sum256(text)),
	})
	return errors.Join(r.file(name, text), r.build.writeBOM(filepath.Join(r.out, base+".cdx.json"), binary))
}

// krew is a template of the manifest with which krew installs kubectl's plugin.
const krew = `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: forewarm
spec:
  version: {{.Version}}
  homepage: https://github.com/forewarm/forewarm
  shortDescription: Inspect and check predictive autoscaling
  description: |
    Shows what Forewarm observes, forecasts and serves for each workload, explains what an HPA computes from it,
    says what is wrong with an installation, and simulates it on recorded demand.
  platforms:
{{- range .Archives}}
    - selector:
        matchLabels: {os: {{.System}}, arch: {{.Machine}}}
      uri: https://github.com/forewarm/forewarm/releases/download/{{$.Version}}/{{.File}}
      sha256: "{{.SHA256}}"
      bin: {{.Program}}
{{- end}}
`

// archive is the archive of a platform.
type archive struct{ System, Machine, Program, File, SHA256 string }

func krewManifest(version string, archives []archive) ([]byte, error) {
	manifest, err := template.New("krew").Parse(krew)
	var text bytes.Buffer
	if err == nil {
		err = manifest.Execute(&text, map[string]any{"Version": version, "Archives": archives})
	}
	if err != nil {
		return nil, fmt.Errorf("krew's manifest: %w", err)
	}
	return text.Bytes(), nil
}

// writeBOM writes the modules that are in a binary, as recorded by the linker, as a CycloneDX document.
func (b build) writeBOM(file, binary string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("read the modules of the binary: %w", err)
	}
	bom := cdx.NewBOM()
	product := component(&debug.Module{Path: info.Main.Path, Version: b.version}, cdx.ComponentTypeApplication)
	bom.Metadata = &cdx.Metadata{Timestamp: b.created.Format(time.RFC3339), Component: &product}
	modules := []cdx.Component{component(&debug.Module{Path: "std", Version: info.GoVersion}, cdx.ComponentTypeLibrary)}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		modules = append(modules, component(m, cdx.ComponentTypeLibrary))
	}
	bom.Components = &modules
	out, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("write the SBOM: %w", err)
	}
	err = cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	if problem := out.Close(); err == nil {
		err = problem
	}
	if err != nil {
		return fmt.Errorf("write the SBOM %s: %w", file, err)
	}
	return nil
}

func component(m *debug.Module, kind cdx.ComponentType) cdx.Component {
	url := "pkg:golang/" + m.Path + "@" + m.Version
	return cdx.Component{BOMRef: url, Type: kind, Name: m.Path, Version: m.Version, PackageURL: url}
}
