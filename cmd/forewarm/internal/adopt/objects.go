package adopt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/adopt"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/printable"
)

// objectSource is either a cluster, which is read with the user's own permissions, or manifests.
type objectSource struct {
	cmdline.Cluster

	// File is a file or a folder of manifests, or "-"; empty for the cluster.
	File      string
	Namespace string
	All       bool
}

// AddFlags adds the flags, with the names of kubectl's.
func (s *objectSource) AddFlags(flags *pflag.FlagSet) {
	flags.StringVarP(
		&s.Namespace,
		"namespace",
		"n",
		"",
		"namespace to read; with --file, the namespace of manifests that have none",
	)
	flags.BoolVarP(&s.All, "all-namespaces", "A", false, "read all namespaces")
	flags.StringVarP(&s.File, "file", "f", "", "file or folder of manifests to read instead of a cluster")
	s.Cluster.AddFlags(flags)
}

// Validate returns every problem.
func (s *objectSource) Validate() error {
	problems := []error{s.Cluster.Validate()}
	if s.All && s.Namespace != "" {
		problems = append(problems, errors.New("--all-namespaces contradicts --namespace: keep one"))
	}
	if s.File != "" && (s.Kubeconfig != "" || s.Context != "" || s.All) {
		problems = append(problems,
			errors.New("--file needs no cluster, leave out --kubeconfig, --context and --all-namespaces"))
	}
	return errors.Join(problems...)
}

// read reads the objects of some kinds.
func read(ctx context.Context, s *objectSource, in io.Reader, kinds adopt.Kinds) (*adopt.Objects, error) {
	if s.File == "" {
		cluster, namespace, err := s.Client(ctx, "read")
		if err != nil {
			return nil, fmt.Errorf("%w; set one, or read manifests (--file DIR)", err)
		}
		if namespace = cmp.Or(s.Namespace, namespace); s.All {
			namespace = metav1.NamespaceAll
		}
		return adopt.ReadCluster(ctx, cluster, namespace, kinds)
	}
	files, found := []string{s.File}, &adopt.Objects{}
	if s.File != cmdline.Stdout {
		var err error
		if files, err = adopt.ManifestFiles(s.File); err != nil {
			return nil, err
		}
	}
	for _, file := range files {
		text, err := cmdline.ReadInput(ctx, in, file, manifest.MaxFile)
		if err != nil {
			return nil, err
		}
		found.AddManifest(file, text, cmp.Or(s.Namespace, metav1.NamespaceDefault), kinds)
	}
	return found, nil
}

// text returns the manifest with its reasons as comments. A document that is for later is written entirely as a comment, so that the stream
// can be applied.
func text(d *adopt.Document, later string) string {
	var out strings.Builder
	out.WriteString("---\n" + printable.Wrap("# ", printable.Line(d.Object+", from "+d.From+":"), "# ", cmdline.Page))
	for _, reason := range d.Why {
		out.WriteString(printable.Wrap("# - ", printable.Line(reason), "#   ", cmdline.Page))
	}
	if !d.After {
		return out.String() + d.Manifest
	}
	if later != "" {
		out.WriteString("# Apply this after the handover, without the # at the beginning of each line:\n")
	}
	for line := range strings.Lines(d.Manifest) {
		out.WriteString(later + line)
	}
	return out.String()
}

// writeObjects writes a stream, or one file for each document into a folder. Documents for after the handover go to a separate folder.
// Existing files are not changed.
func writeObjects(out io.Writer, folder string, all []adopt.Document) error {
	var problems []error
	for i := range all {
		d, dir := &all[i], folder
		if folder == "" {
			_, err := io.WriteString(out, text(d, "# "))
			problems = append(problems, err)
			continue
		}
		if d.After {
			dir = filepath.Join(folder, "after-handover")
		}
		// All parts of the name were checked, so it is a valid file name.
		path := filepath.Join(dir, strings.NewReplacer("/", ".", " ", "-").Replace(strings.ToLower(d.Object))+".yaml")
		if _, err := os.Lstat(path); err == nil {
			problems = append(problems,
				fmt.Errorf("%s already exists and was not changed: remove it, or choose another folder", path))
			continue
		}
		problems = append(problems, os.MkdirAll(dir, 0o755), cmdline.WriteFile(path, out, []byte(text(d, ""))))
	}
	return errors.Join(problems...)
}
