package serve

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/kube/aggregation"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
	"github.com/forewarm/forewarm/pkg/serve/kedaserver"
)

// addClusterFlags binds the configuration of the API server in a cluster. The library's flags have the same names as in every aggregated
// API server.
func addClusterFlags(flags *pflag.FlagSet, c *apiserver.ClusterConfig) {
	for _, group := range []struct {
		mode       *aggregation.Mode
		flag, text string
	}{
		{&c.External, "serve-external-metrics", "serve external.metrics.k8s.io. auto: the leader takes the group if no other server has it; " +
			"true: as auto, but log an error if another server has it; false: do not serve the group, and release it"},
		{&c.Custom, "serve-custom-metrics", "serve custom.metrics.k8s.io (same values as --serve-external-metrics)"},
		{&c.Inspect, "serve-inspect", "serve inspect.forewarm.dev (same values as --serve-external-metrics)"},
	} {
		flags.Var(group.mode, group.flag, group.text)
		flags.Lookup(group.flag).NoOptDefVal = string(aggregation.Required)
	}
	flags.StringVar(&c.Kubeconfig, "kubeconfig", c.Kubeconfig,
		"kubeconfig of the cluster (default: the pod's service account)")
	c.Library.SecureServing.AddFlags(flags)
	c.Library.Authentication.AddFlags(flags)
	c.Library.Authorization.AddFlags(flags)
}

// checkClusterFiles reports the flags whose files cannot be valid.
func checkClusterFiles(c *apiserver.ClusterConfig) error {
	authentication, certificate := c.Library.Authentication, c.Library.SecureServing.ServerCert.CertKey
	return errors.Join(
		cmdline.CheckFlagFiles(cmdline.MaxSettings, cmdline.FileFlag{Name: "--kubeconfig", Path: c.Kubeconfig},
			cmdline.FileFlag{Name: "--authentication-kubeconfig", Path: authentication.RemoteKubeConfigFile},
			cmdline.FileFlag{Name: "--authorization-kubeconfig", Path: c.Library.Authorization.RemoteKubeConfigFile}),
		cmdline.CheckFlagFiles(cmdline.MaxSecret, cmdline.FileFlag{Name: "--tls-cert-file", Path: certificate.CertFile},
			cmdline.FileFlag{Name: "--tls-private-key-file", Path: certificate.KeyFile},
			cmdline.FileFlag{Name: "--client-ca-file", Path: authentication.ClientCert.ClientCA},
			cmdline.FileFlag{Name: "--requestheader-client-ca-file", Path: authentication.RequestHeader.ClientCAFile}),
	)
}

// addKEDAFlags binds the configuration of KEDA's scaler.
func addKEDAFlags(flags *pflag.FlagSet, c *kedaserver.Config) {
	flags.StringVar(&c.Address, "keda-address", c.Address,
		"address on which to serve KEDA's external scaler (gRPC), for example :9090 (default: not served)")
	flags.StringVar(
		&c.CertFile,
		"keda-tls-cert-file",
		c.CertFile,
		"file with the scaler's certificate (default: a certificate signed by Forewarm's own authority); Forewarm reloads "+
			"this file, the file of the key and the file of the client authorities when they change",
	)
	flags.StringVar(&c.KeyFile, "keda-tls-private-key-file", c.KeyFile, "file with the key of the scaler's certificate")
	flags.StringVar(&c.ClientCAFile, "keda-client-ca-file", c.ClientCAFile,
		"file with the certificate authorities that verify KEDA's client certificate; other clients are refused")
	flags.BoolVar(
		&c.Plaintext,
		"keda-plaintext",
		c.Plaintext,
		"serve the scaler to other machines without TLS: anyone who can reach the port can read the demand of all namespaces",
	)
}

// validateKEDA checks the configuration of KEDA's scaler. It reads the files only if the rest can be valid.
func validateKEDA(c *kedaserver.Config) error {
	if err := cmdline.CheckFlagFiles(
		cmdline.MaxSecret,
		cmdline.FileFlag{Name: "--keda-tls-cert-file", Path: c.CertFile},
		cmdline.FileFlag{Name: "--keda-tls-private-key-file", Path: c.KeyFile},
		cmdline.FileFlag{Name: "--keda-client-ca-file", Path: c.ClientCAFile},
	); err != nil {
		return err
	}
	return c.Validate()
}
