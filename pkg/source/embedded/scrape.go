package embedded

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	promconfig "github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery"
	_ "github.com/prometheus/prometheus/discovery/file" // Registers file_sd_configs.
)

// lookback is twice the longest scrape interval, so that one late scrape is not a gap.
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

// scrapeConfig reads the scrape file and applies the limits to its jobs; without a file there are no jobs.
func scrapeConfig(path string, logger *slog.Logger) (*promconfig.Config, error) {
	all, err := promconfig.Load("", logger)
	if err != nil {
		return nil, fmt.Errorf("empty scrape configuration: %w", err)
	}
	if path == "" {
		return all, nil
	}
	file, err := promconfig.LoadFile(path, false, logger)
	if err != nil {
		return nil, fmt.Errorf("scrape file %s: %w%s", path, err, discoveryAdvice(err))
	}
	if ignored := ignoredSections(file); len(ignored) > 0 {
		logger.Warn("sections of the scrape file are ignored", "file", path, "sections", strings.Join(ignored, ", "))
	}
	if all.ScrapeConfigs, err = file.GetScrapeConfigs(); err != nil {
		return nil, fmt.Errorf("scrape file %s: %w", path, err)
	}
	if err := applyLimits(all.ScrapeConfigs); err != nil {
		return nil, fmt.Errorf("scrape file %s: %w", path, err)
	}
	return all, nil
}

// ignoredSections lists the sections of a Prometheus configuration that this engine ignores.
func ignoredSections(c *promconfig.Config) []string {
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

// discoveryAdvice is the advice for a discovery that is not built in.
func discoveryAdvice(err error) string {
	if strings.Contains(err.Error(), "_sd_configs not found") {
		return " (only static_configs and file_sd_configs are built in; for other discoveries run a Prometheus server)"
	}
	return ""
}
