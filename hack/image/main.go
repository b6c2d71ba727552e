// Command image builds Forewarm's image without a container engine, as an OCI layout: a static binary for each platform, the
// certificate authorities of the web, and a user that is not root. The same commit gives the same digest.
//
//	go build ──> binary, one for each platform (image.go)
//	         ──> layers ──> image ──> index ──> OCI layout (image.go)
//	         ──> the modules in the binary ──> SBOM next to it (release.go)
//	         ──> the digest, signed by a key where one is given, as cosign does (sign.go)
//
// With the word release it makes all that a version is published as (release.go): the same commit gives the same bytes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/spf13/pflag"
)

// options has the values of the flags.
type options struct {
	out, push, key string
	plain          bool
	build          build
	// work is a folder for the binaries. If it is empty, a temporary folder is used.
	work string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == "release" {
		return runRelease(ctx, args[1:], out)
	}
	var o options
	flags := pflag.NewFlagSet("image", pflag.ContinueOnError)
	flags.StringVar(&o.out, "out", "bin/image", "folder of the OCI layout, which is replaced; the SBOMs lie next to it")
	flags.StringVar(&o.build.root, "root", ".", "folder of the repository")
	flags.StringVar(&o.build.version, "version", "unknown", "version that the binary and the labels have")
	flags.StringSliceVar(&o.build.platforms, "platform", []string{"linux/amd64", "linux/arm64"},
		"platforms to build for")
	flags.StringVar(&o.push, "push", "",
		"reference to push to, REGISTRY/NAME:TAG, with the credentials of ~/.docker/config.json")
	flags.BoolVar(&o.plain, "plain-http", false, "push without TLS, to a registry of this machine")
	flags.StringVar(&o.key, "key", "", "file of a private key, PEM (PKCS #8, ECDSA), to sign the digest by")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: everything is a flag", flags.Arg(0))
	}
	return o.run(ctx, out)
}

func (o *options) run(ctx context.Context, out io.Writer) (err error) {
	var by *signer
	if o.key != "" { // This comes before the build, which takes minutes.
		if by, err = readKey(o.key); err != nil {
			return err
		}
	}
	if o.build.created, o.build.revision, err = o.build.commit(ctx); err != nil {
		return err
	}
	if err = os.MkdirAll(filepath.Dir(o.out), 0o755); err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	if o.work == "" {
		if o.work, err = os.MkdirTemp("", "forewarm-image-"); err != nil {
			return fmt.Errorf("write the image: %w", err)
		}
		defer os.RemoveAll(o.work) //nolint:errcheck // It lies in the folder of temporary files.
	}
	var parts []part
	for _, platform := range o.build.platforms {
		one := part{platform: platform}
		if one.image, err = o.part(ctx, platform, out); err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		parts = append(parts, one)
	}
	index, err := o.build.newIndex(parts)
	if err != nil {
		return err
	}
	return o.write(ctx, index, by, out)
}

// part builds the image of a platform, and writes its SBOM.
//
//nolint:ireturn // The library's type.
func (o *options) part(ctx context.Context, platform string, out io.Writer) (v1.Image, error) {
	begun := time.Now()
	if !strings.HasPrefix(platform, "linux/") {
		return nil, fmt.Errorf("--platform %q is not linux/ARCH: write for example linux/arm64", platform)
	}
	binary, err := o.build.binary(ctx, platform, o.work)
	if err != nil {
		return nil, err
	}
	image, err := o.build.newImage(binary, platform)
	if err != nil {
		return nil, err
	}
	bom := fmt.Sprintf("%s.%s.cdx.json", strings.TrimRight(o.out, "/"), strings.ReplaceAll(platform, "/", "-"))
	if err = o.build.writeBOM(bom, binary); err != nil {
		return nil, err
	}
	pulled, err := size(image)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "%s: %.1f MB compressed, SBOM %s (%.0f s)\n", platform, float64(pulled)/1e6, bom,
		time.Since(begun).Seconds())
	return image, nil
}

// write writes the layout, signs the digest and pushes.
func (o *options) write(ctx context.Context, index v1.ImageIndex, by *signer, out io.Writer) error {
	if err := os.RemoveAll(o.out); err != nil {
		return fmt.Errorf("replace the image: %w", err)
	}
	if _, err := layout.Write(o.out, index); err != nil {
		return fmt.Errorf("write the image to %s: %w", o.out, err)
	}
	digest, err := index.Digest()
	if err != nil {
		return fmt.Errorf("digest of the image: %w", err)
	}
	fmt.Fprintf(out, "%s: %s\n", o.out, digest)
	if o.push == "" {
		if by != nil {
			return by.writeFiles(o.out+".sig", digest, "forewarm")
		}
		return nil
	}
	var named []name.Option
	if o.plain {
		named = append(named, name.Insecure)
	}
	reference, err := name.ParseReference(o.push, named...)
	if err != nil {
		return fmt.Errorf("--push %s: write REGISTRY/NAME:TAG: %w", o.push, err)
	}
	access := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	if err = remote.WriteIndex(reference, index, access...); err != nil {
		return fmt.Errorf("push to %s: %w", reference, err)
	}
	fmt.Fprintf(out, "pushed %s@%s\n", reference.Context(), digest)
	if by == nil {
		return nil
	}
	signature, err := by.image(digest, reference.Context().String())
	if err != nil {
		return err
	}
	tag := reference.Context().Tag(strings.Replace(digest.String(), ":", "-", 1) + ".sig")
	if err := remote.Write(tag, signature, access...); err != nil {
		return fmt.Errorf("push the signature to %s: %w", tag, err)
	}
	fmt.Fprintf(out, "signed: %s\n", tag)
	return nil
}
