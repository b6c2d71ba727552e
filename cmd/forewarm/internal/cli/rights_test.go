package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// imageUser is the user that the container image runs as.
const imageUser = 65532

// unprivileged runs forewarm as a user whom files of mode 0 keep out, and returns what it says and its exit code. A
// test that runs as root becomes another one: root may read everything.
func unprivileged(t *testing.T, dir string, args ...string) (said string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, filepath.Join(dir, "forewarm"), args...)
	command.Dir, command.Env = dir, []string{"HOME=" + dir, "TMPDIR=" + dir}
	if os.Getuid() == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: imageUser, Gid: imageUser}}
	}
	out, err := command.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return string(out), command.ProcessState.ExitCode()
}

// Who may not read or write a file is told which, and why, before anything else is done.
func TestRightsThatAreMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, open := range []string{filepath.Dir(dir), dir} { // For the other user to reach what is in them.
		if err := os.Chmod(open, 0o755); err != nil { //nolint:gosec // See above.
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	const everyone, nobodys = 0o755, 0
	var trace strings.Builder
	trace.WriteString("t,load\n")
	for i := range 3000 {
		fmt.Fprintf(&trace, "%d,%d\n", 60*i, 100+i%60)
	}
	const hpa = `{kind: HorizontalPodAutoscaler, apiVersion: autoscaling/v2, metadata: {name: web}, spec: {maxReplicas: 20,
  scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1},
  metrics: [{type: External, external: {metric: {name: load}, target: {type: AverageValue, averageValue: 10}}}]}}`
	for name, text := range map[string]string{
		"forewarm": string(program), "good.csv": trace.String(), "hpa.yaml": hpa, "config/.keep": "", "scrape.yaml": "scrape_configs: []\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), everyone); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), everyone); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"secret.csv", "secret.yaml", "token", "cert.pem"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("secret"), nobodys); err != nil {
			t.Fatal(err)
		}
	}
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, nobodys); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(closed, 0o700) }) //nolint:errcheck // For the folder to be removed.
	locked := filepath.Join(dir, "locked")
	if err := os.Mkdir(locked, 0o555); err != nil {
		t.Fatal(err)
	}
	serve := []string{"serve", "--standalone", "--port", "0", "--keda-address="}
	from := []string{"--config-dir", "config"}
	for _, c := range []struct {
		about, names string
		args         []string
	}{
		{"a data directory that cannot be made", "locked/data", slices.Concat(serve, from, []string{"--scrape-config", "scrape.yaml", "--data-dir", "locked/data"})},
		{"a data directory that cannot be written", "locked", slices.Concat(serve, from, []string{"--scrape-config", "scrape.yaml", "--data-dir", "locked"})},
		{"a data directory that cannot be entered", "closed", slices.Concat(serve, from, []string{"--scrape-config", "scrape.yaml", "--data-dir", "closed"})},
		{"a scrape file that cannot be read", "secret.yaml", slices.Concat(serve, from, []string{"--scrape-config", "secret.yaml", "--data-dir", "data"})},
		{"a config directory that cannot be read", "closed", slices.Concat(serve, []string{"--config-dir", "closed", "--scrape-config", "scrape.yaml", "--data-dir", "data"})},
		{"a token that cannot be read", "token", []string{"simulate", "--forecasts", "--prometheus", "http://127.0.0.1:9", "--query", "x", "--prometheus-token-file", "token"}},
		{"a CA that cannot be read", "cert.pem", []string{"simulate", "--forecasts", "--prometheus", "https://127.0.0.1:9", "--query", "x", "--prometheus-ca-file", "cert.pem"}},
		{"KEDA's certificate", "cert.pem", []string{"serve", "--standalone", "--port", "0", "--config-dir", "config", "--prometheus-url", "http://127.0.0.1:9", "--keda-address", "127.0.0.1:0", "--keda-tls-cert-file", "cert.pem", "--keda-tls-private-key-file", "cert.pem", "--keda-client-ca-file", "cert.pem"}},
		{"a trace of forecasts", "secret.csv", []string{"simulate", "--forecasts", "--trace", "secret.csv"}},
		{"a trace of simulate", "secret.csv", []string{"simulate", "--trace", "secret.csv", "--hpa", "hpa.yaml"}},
		{"a trace of the demo", "secret.csv", []string{"demo", "--trace", "secret.csv", "--port", "0"}},
		{"a trace of capacity", "secret.csv", []string{"capacity", "--trace", "secret.csv", "--column", "load", "--saturated-column", "load", "--replicas-column", "load"}},
		{"an HPA", "secret.yaml", []string{"simulate", "--trace", "good.csv", "--hpa", "secret.yaml"}},
		{"a manifest", "secret.yaml", []string{"explain", "--file", "secret.yaml", "--value", "3"}},
		{"a report in a folder that cannot be written", "locked/report.html", []string{"simulate", "--trace", "good.csv", "--hpa", "hpa.yaml", "--html", "locked/report.html"}},
		{"a report in a folder that cannot be entered", "closed/report.html", []string{"simulate", "--trace", "good.csv", "--hpa", "hpa.yaml", "--html", "closed/report.html"}},
		{"a kubeconfig", "secret.yaml", []string{"inspect", "llama", "--kubeconfig", "secret.yaml"}},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			said, code := unprivileged(t, dir, c.args...)
			if code <= 0 || !strings.Contains(said, c.names) || !strings.Contains(said, "permission denied") ||
				!strings.Contains(said, "grant that user access") && !strings.Contains(said, "or a kubeconfig") {
				t.Errorf("exit code %d, want an error that names %s and says that permission is denied:\n%s", code,
					c.names, said)
			}
			if m := regexp.MustCompile(`panic:|goroutine `).FindString(said); m != "" || len(said) > 30_000 {
				t.Errorf("%q, %d bytes", m, len(said))
			}
		})
	}
}
