package embedded

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	promconfig "github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery"
	_ "github.com/prometheus/prometheus/discovery/file" // Registers file_sd_configs.
)

// Job is a set of targets that are scraped alike.
type Job struct {
	// Name is the label job of what is scraped, unique among the jobs.
	Name string
	// Scheme is http (default) or https; Path is /metrics by default.
	Scheme, Path string
	// Interval between scrapes; default 15 s. A scrape may take as long, but no more than 10 s.
	Interval time.Duration
	// HonorLabels keeps the target's own labels where they collide with those given here; else they are renamed
	// exported_….
	HonorLabels bool
	Targets     []Target
}

// Target is one address with the labels that its series get.
type Target struct {
	// Address is HOST:PORT.
	Address string
	Labels  map[string]string
}

const (
	defaultInterval = 15 * time.Second
	maxTimeout      = 10 * time.Second
	// bodyLimit and sampleLimit guard against a target that answers without end; vLLM and dcgm-exporter need a
	// hundredth.
	bodyLimit   = "32MB"
	sampleLimit = 200_000
)

func (j Job) validate() error {
	if j.Name == "" {
		return errors.New("scrape job: no name")
	}
	if j.Interval < 0 || j.Interval%time.Millisecond != 0 {
		return fmt.Errorf("scrape job %s: interval %v, want whole milliseconds", j.Name, j.Interval)
	}
	return nil
}

// SetJobs replaces the jobs that were given in Go; those of the scrape file are read again. What is scraped in both
// the old and the new set goes on undisturbed; series of targets that are gone end.
func (e *Engine) SetJobs(jobs []Job) error {
	for _, job := range jobs {
		if err := job.validate(); err != nil {
			return err
		}
	}
	scraped, err := scrapeConfig(e.cfg.ScrapeFile, jobs, e.logger)
	if err != nil {
		return err
	}
	return e.apply(scraped)
}

// apply hands a configuration to the scraper and to discovery, if that runs.
func (e *Engine) apply(scraped *promconfig.Config) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.scraper.ApplyConfig(scraped); err != nil {
		return fmt.Errorf("embedded engine: %w", err)
	}
	e.scraped, e.lookback = scraped, e.cfg.Lookback
	if e.lookback == 0 {
		e.lookback = lookback(scraped)
	}
	if e.discovery == nil {
		return nil
	}
	if err := e.discovery.ApplyConfig(discoveries(scraped)); err != nil {
		return fmt.Errorf("embedded engine: %w", err)
	}
	return nil
}

// lookback is how long a sample counts: two of the longest scrape intervals, so that one late scrape makes no gap.
func lookback(c *promconfig.Config) time.Duration {
	longest := minLookback
	for _, s := range c.ScrapeConfigs {
		longest = max(longest, 2*time.Duration(s.ScrapeInterval))
	}
	return longest
}

func discoveries(c *promconfig.Config) map[string]discovery.Configs {
	out := make(map[string]discovery.Configs, len(c.ScrapeConfigs))
	for _, s := range c.ScrapeConfigs {
		out[s.JobName] = s.ServiceDiscoveryConfigs
	}
	return out
}

// scrapeConfig joins the file's scrape configurations and the jobs'. The jobs go through Prometheus's own reading of
// its YAML, of which JSON is a part, so that defaults and checks are the same for both.
func scrapeConfig(path string, jobs []Job, logger *slog.Logger) (*promconfig.Config, error) {
	text, err := json.Marshal(map[string]any{"scrape_configs": describe(jobs)})
	if err != nil {
		return nil, fmt.Errorf("scrape jobs: %w", err)
	}
	all, err := promconfig.Load(string(text), logger)
	if err != nil {
		return nil, fmt.Errorf("scrape jobs: %w", err)
	}
	if path == "" {
		return all, nil
	}
	file, err := promconfig.LoadFile(path, false, logger)
	if err != nil {
		return nil, fmt.Errorf("scrape file %s: %w%s", path, err, advice(err))
	}
	if ignored := unused(file); len(ignored) > 0 {
		logger.Warn("sections of the scrape file are ignored", "file", path, "sections", strings.Join(ignored, ", "))
	}
	configs, err := file.GetScrapeConfigs()
	if err != nil {
		return nil, fmt.Errorf("scrape file %s: %w", path, err)
	}
	names := map[string]bool{}
	for _, job := range jobs {
		names[job.Name] = true
	}
	for _, c := range configs {
		if names[c.JobName] {
			return nil, fmt.Errorf("scrape file %s: the job %q is defined twice: rename it", path, c.JobName)
		}
	}
	all.ScrapeConfigs = append(all.ScrapeConfigs, configs...)
	return all, nil
}

// describe is the jobs as they would stand in a scrape file.
func describe(jobs []Job) []map[string]any {
	out := make([]map[string]any, 0, len(jobs))
	for _, j := range jobs {
		interval := cmp.Or(j.Interval, defaultInterval)
		targets := make([]map[string]any, 0, len(j.Targets))
		for _, t := range j.Targets {
			targets = append(targets, map[string]any{"targets": []string{t.Address}, "labels": t.Labels})
		}
		out = append(out, map[string]any{
			"job_name":        j.Name,
			"scheme":          cmp.Or(j.Scheme, "http"),
			"metrics_path":    cmp.Or(j.Path, "/metrics"),
			"scrape_interval": model.Duration(interval).String(),
			"scrape_timeout":  model.Duration(min(interval, maxTimeout)).String(),
			"honor_labels":    j.HonorLabels,
			"body_size_limit": bodyLimit,
			"sample_limit":    sampleLimit,
			"static_configs":  targets,
		})
	}
	return out
}

// unused names the sections that a Prometheus would heed and this engine does not.
func unused(c *promconfig.Config) []string {
	var out []string
	for name, there := range map[string]bool{
		"rule_files":   len(c.RuleFiles) > 0,
		"alerting":     len(c.AlertingConfig.AlertmanagerConfigs) > 0,
		"remote_write": len(c.RemoteWriteConfigs) > 0,
		"remote_read":  len(c.RemoteReadConfigs) > 0,
	} {
		if there {
			out = append(out, name)
		}
	}
	return out
}

// advice tells a discovery that is not built in from a slip of the pen.
func advice(err error) string {
	if strings.Contains(err.Error(), "_sd_configs not found") {
		return " (static_configs and file_sd_configs are built in; for other discoveries run a Prometheus)"
	}
	return ""
}
