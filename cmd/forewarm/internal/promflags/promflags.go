// Package promflags binds how a Prometheus is spoken to: the same flags for every command that reads from one.
package promflags

import (
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// Add binds credentials, certificates, headers and the lookback.
func Add(flags *pflag.FlagSet, p *prometheus.Config) {
	flags.StringVar(&p.BearerTokenFile, "prometheus-token-file", p.BearerTokenFile, "file with the bearer token for it")
	flags.StringToStringVar(&p.Headers, "prometheus-header", p.Headers, "header to send to it, NAME=VALUE, repeatable")
	flags.StringVar(&p.CAFile, "prometheus-ca-file", p.CAFile, "certificates that its own is checked against")
	flags.StringVar(&p.CertFile, "prometheus-cert-file", p.CertFile, "client certificate for it")
	flags.StringVar(&p.KeyFile, "prometheus-key-file", p.KeyFile, "key of the client certificate")
	flags.DurationVar(&p.Lookback, "prometheus-lookback", p.Lookback, "how long a sample counts where none follows; "+
		"two or three scrape intervals show short gaps (0: as the server has it)")
}
