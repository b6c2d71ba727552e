package embedded_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/source/embedded"
)

// Whatever a scrape file says, it is an error that names the file, or an engine that can be run and closed.
func FuzzScrapeFile(f *testing.F) {
	for _, text := range []string{
		"scrape_configs:\n- job_name: a\n  static_configs: [{targets: ['127.0.0.1:9']}]\n",
		"scrape_configs:\n- job_name: a\n  sample_limit: 99999999\n  body_size_limit: 1PB\n", "scrape_configs: [null]\n",
		"scrape_configs:\n- {job_name: a, scrape_interval: 0s, scrape_timeout: 1y}\n", "a: &a [*a]\n", "global: null\n",
		"scrape_configs:\n- {job_name: a, kubernetes_sd_configs: [{}]}\n", "scrape_config_files: ['/dev/*', '*']\n",
		"scrape_configs:\n- {job_name: a, file_sd_configs: [{files: ['*.yaml']}], label_limit: -1}\nrule_files: [x]\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "scrape.yaml")
		must(t, os.WriteFile(path, text, 0o600))
		e, err := embedded.Open(embedded.Config{Dir: t.TempDir(), ScrapeFile: path}, discard())
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		must(t, e.Close())
	})
}
