// Package cmdline reads what several commands take from their command lines: the workload, the cluster, the Prometheus
// and the log.
package cmdline

import (
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/files"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// Prometheus binds how a Prometheus is spoken to: credentials, certificates, headers and the lookback.
func Prometheus(flags *pflag.FlagSet, p *prometheus.Config) {
	flags.StringVar(&p.BearerTokenFile, "prometheus-token-file", p.BearerTokenFile, "file with the bearer token for it")
	flags.StringToStringVar(&p.Headers, "prometheus-header", p.Headers, "header to send to it, NAME=VALUE, repeatable")
	flags.StringVar(
		&p.CAFile,
		"prometheus-ca-file",
		p.CAFile,
		"certificate authorities that its certificate is checked against",
	)
	flags.StringVar(&p.CertFile, "prometheus-cert-file", p.CertFile, "client certificate for it")
	flags.StringVar(&p.KeyFile, "prometheus-key-file", p.KeyFile, "key of the client certificate")
	flags.DurationVar(
		&p.Lookback,
		"prometheus-lookback",
		p.Lookback,
		"how long a sample is valid if no newer one follows; "+
			"two or three scrape intervals show short gaps (0: as the server has it)",
	)
}

// CheckPrometheus says which of the files that Prometheus' flags name cannot be what they are to be.
func CheckPrometheus(p *prometheus.Config) error {
	return files.CheckFlags(files.MaxSecret,
		files.Flag{Name: "--prometheus-token-file", Path: p.BearerTokenFile},
		files.Flag{Name: "--prometheus-ca-file", Path: p.CAFile},
		files.Flag{Name: "--prometheus-cert-file", Path: p.CertFile},
		files.Flag{Name: "--prometheus-key-file", Path: p.KeyFile})
}
