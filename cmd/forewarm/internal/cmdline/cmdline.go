// Package cmdline reads what several commands take from their command lines: the workload, the cluster, the Prometheus
// and the log.
package cmdline

import (
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// Cluster reads the kubeconfig by kubectl's rules: the file that is named, the environment, the home folder, the pod's own
// account. The context may be empty for the file's current one; the namespace is the context's, or "default".
func Cluster(file, context string) (config *rest.Config, namespace string, err error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = file
	overrides := &clientcmd.ConfigOverrides{CurrentContext: context}
	loading := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	if config, err = loading.ClientConfig(); err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	if namespace, _, err = loading.Namespace(); err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	return config, namespace, nil
}

// Prometheus binds how a Prometheus is spoken to: credentials, certificates, headers and the lookback.
func Prometheus(flags *pflag.FlagSet, p *prometheus.Config) {
	flags.StringVar(&p.BearerTokenFile, "prometheus-token-file", p.BearerTokenFile, "file with the bearer token for it")
	flags.StringToStringVar(&p.Headers, "prometheus-header", p.Headers, "header to send to it, NAME=VALUE, repeatable")
	flags.StringVar(&p.CAFile, "prometheus-ca-file", p.CAFile, "certificates that its own is checked against")
	flags.StringVar(&p.CertFile, "prometheus-cert-file", p.CertFile, "client certificate for it")
	flags.StringVar(&p.KeyFile, "prometheus-key-file", p.KeyFile, "key of the client certificate")
	flags.DurationVar(&p.Lookback, "prometheus-lookback", p.Lookback, "how long a sample counts where none follows; "+
		"two or three scrape intervals show short gaps (0: as the server has it)")
}
