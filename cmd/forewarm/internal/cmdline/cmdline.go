// Package cmdline has what several commands share: flags and arguments for the workload, the cluster, the Prometheus and
// the log, and the form of --json.
package cmdline

import (
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/files"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// AddPrometheusFlags adds the flags of a connection to a Prometheus: credentials, certificates, headers and the lookback.
func AddPrometheusFlags(flags *pflag.FlagSet, p *prometheus.Config) {
	flags.StringVar(
		&p.BearerTokenFile,
		"prometheus-token-file",
		p.BearerTokenFile,
		"file with the bearer token for the Prometheus",
	)
	flags.StringToStringVar(
		&p.Headers,
		"prometheus-header",
		p.Headers,
		"header to send to the Prometheus, NAME=VALUE, repeatable",
	)
	flags.StringVar(
		&p.CAFile,
		"prometheus-ca-file",
		p.CAFile,
		"certificate authorities that the Prometheus' certificate is checked against",
	)
	flags.StringVar(&p.CertFile, "prometheus-cert-file", p.CertFile, "client certificate for the Prometheus")
	flags.StringVar(&p.KeyFile, "prometheus-key-file", p.KeyFile, "key of the client certificate")
	flags.DurationVar(
		&p.Lookback,
		"prometheus-lookback",
		p.Lookback,
		"how long a sample is valid if no newer one follows; "+
			"two or three scrape intervals make short gaps visible (0: the server's default)",
	)
}

// CheckPrometheus reports the flags of the Prometheus whose files cannot be valid.
func CheckPrometheus(p *prometheus.Config) error {
	return files.CheckFlagFiles(files.MaxSecret,
		files.Flag{Name: "--prometheus-token-file", Path: p.BearerTokenFile},
		files.Flag{Name: "--prometheus-ca-file", Path: p.CAFile},
		files.Flag{Name: "--prometheus-cert-file", Path: p.CertFile},
		files.Flag{Name: "--prometheus-key-file", Path: p.KeyFile})
}
