package clustertest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Components has the paths of a cluster's binaries.
type Components struct {
	// Kubernetes, Kwok, KEDA and PrometheusAdapter are folders of binaries, the last one empty without FOREWARM_ADAPTER.
	Kubernetes, Kwok, KEDA, PrometheusAdapter string
	// KEDASource and PrometheusAdapterSource are the folders of their modules, with their manifests.
	KEDASource, PrometheusAdapterSource string
	// Karpenter is a folder of binaries, KarpenterSource that of its module; both are empty without FOREWARM_KARPENTER.
	Karpenter, KarpenterSource string
	// Coscheduling, Kueue and LWS (LeaderWorkerSet) are the same for FOREWARM_COSCHEDULING, FOREWARM_KUEUE and FOREWARM_LWS.
	Coscheduling, CoschedulingSource, Kueue, KueueSource, LWS, LWSSource string
	// EndpointPicker and EndpointPickerSource are the same for FOREWARM_ENDPOINT_PICKER.
	EndpointPicker, EndpointPickerSource string
	// Forewarm, Prometheus and Helm are binaries.
	Forewarm, Prometheus, Helm string
	// Root of the repository.
	Root string
}

// Build builds missing components, which takes minutes the first time. Progress goes to stderr.
func Build(ctx context.Context, root string) (Components, error) {
	c := Components{
		Root: root, Forewarm: filepath.Join(root, "bin", "forewarm"), PrometheusAdapter: os.Getenv("FOREWARM_ADAPTER"),
		Karpenter: os.Getenv("FOREWARM_KARPENTER"), Coscheduling: os.Getenv("FOREWARM_COSCHEDULING"),
		Kueue: os.Getenv("FOREWARM_KUEUE"), LWS: os.Getenv("FOREWARM_LWS"),
		EndpointPicker: os.Getenv("FOREWARM_ENDPOINT_PICKER"),
	}
	var err error
	for name, folder := range map[string]*string{
		"kubernetes": &c.Kubernetes, "kwok": &c.Kwok, "keda": &c.KEDA,
	} {
		if *folder, err = runCommand(ctx, root, filepath.Join("hack", "components", "build.sh"), name); err != nil {
			return c, err
		}
	}
	helm, err := runCommand(ctx, root, filepath.Join("hack", "components", "build.sh"), "helm", "helm")
	if err != nil {
		return c, err
	}
	c.Helm = filepath.Join(helm, "helm")
	sources := map[string]*string{
		"keda github.com/kedacore/keda/v2":                  &c.KEDASource,
		"prometheus-adapter sigs.k8s.io/prometheus-adapter": &c.PrometheusAdapterSource,
	}
	for module, one := range map[string]struct {
		binaries string
		source   *string
	}{
		"karpenter sigs.k8s.io/karpenter":                             {c.Karpenter, &c.KarpenterSource},
		"coscheduling sigs.k8s.io/scheduler-plugins":                  {c.Coscheduling, &c.CoschedulingSource},
		"kueue sigs.k8s.io/kueue":                                     {c.Kueue, &c.KueueSource},
		"lws sigs.k8s.io/lws":                                         {c.LWS, &c.LWSSource},
		"endpoint-picker sigs.k8s.io/gateway-api-inference-extension": {c.EndpointPicker, &c.EndpointPickerSource},
	} {
		if one.binaries != "" {
			sources[module] = one.source
		}
	}
	for module, folder := range sources {
		name, path, _ := strings.Cut(module, " ")
		own := filepath.Join(root, "hack", "components", name)
		// A component may need a newer Go, which its go.mod names.
		*folder, err = runCommand(ctx, own, "env", "GOTOOLCHAIN=auto", "go", "list", "-m", "-f", "{{.Dir}}", path)
		if err != nil {
			return c, err
		}
	}
	if _, err = runCommand(ctx, root, "make", "build"); err != nil {
		return c, err
	}
	if c.Prometheus, err = exec.LookPath("prometheus"); err != nil {
		return c, fmt.Errorf("find Prometheus (Debian: apt-get install prometheus): %w", err)
	}
	return c, nil
}

// runCommand runs a command in a folder and returns the last line of its output.
func runCommand(ctx context.Context, dir, name string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, name, args...)
	if strings.ContainsRune(name, filepath.Separator) {
		command.Path = filepath.Join(dir, name)
	}
	command.Dir, command.Stderr = dir, os.Stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return string(lines[len(lines)-1]), nil
}

// Root finds the root of the repository above the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "hack", "components")); err == nil {
			return at, nil
		}
	}
	return "", fmt.Errorf("find the repository: no folder above %s has hack/components", dir)
}
