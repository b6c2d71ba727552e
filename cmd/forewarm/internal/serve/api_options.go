package serve

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	adapteroptions "sigs.k8s.io/custom-metrics-apiserver/pkg/cmd/options"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/kube/aggregation"
)

// Groups are the API groups to serve. The zero value serves none.
type Groups struct {
	// External is external.metrics.k8s.io.
	External aggregation.Mode
	// Custom is custom.metrics.k8s.io.
	Custom aggregation.Mode
	// Inspect is inspect.forewarm.dev.
	Inspect aggregation.Mode
}

// AllGroups serves every group, and takes those that nobody holds.
func AllGroups() Groups {
	return Groups{External: aggregation.Auto, Custom: aggregation.Auto, Inspect: aggregation.Auto}
}

// Modes of the groups by their names.
func (g *Groups) Modes() map[string]aggregation.Mode {
	return map[string]aggregation.Mode{
		aggregation.External: g.External, aggregation.Custom: g.Custom, aggregation.Inspect: g.Inspect,
	}
}

// AddFlags binds the modes.
func (g *Groups) AddFlags(flags *pflag.FlagSet) {
	for _, group := range []struct {
		mode       *aggregation.Mode
		flag, text string
	}{
		{&g.External, "serve-external-metrics", "serve external.metrics.k8s.io. auto: the leader takes the group where nobody holds it; " +
			"true: another holder is an error; false: not served, and given back"},
		{&g.Custom, "serve-custom-metrics", "the same of custom.metrics.k8s.io"},
		{&g.Inspect, "serve-inspect", "the same of inspect.forewarm.dev"},
	} {
		flags.Var(group.mode, group.flag, group.text)
		flags.Lookup(group.flag).NoOptDefVal = string(aggregation.Required)
	}
}

// ClusterOptions configure a server in a cluster.
type ClusterOptions struct {
	Groups
	// Kubeconfig of the cluster that authentication and authorization are delegated to; empty means the pod's own
	// cluster.
	Kubeconfig string
	// Certificate to serve with, where Library names no files; nil means one that nobody can verify.
	Certificate dynamiccertificates.CertKeyContentProvider
	// Library has the options of TLS, authentication and authorization.
	Library *adapteroptions.CustomMetricsAdapterServerOptions
}

// DefaultClusterOptions serve all groups on port 6443. A review that allows a request is kept for 60 s, longer than
// the HPA's sync period of 15 s, so that an HPA's next request needs no review; one that denies it for 10 s.
func DefaultClusterOptions() ClusterOptions {
	library := adapteroptions.NewCustomMetricsAdapterServerOptions()
	library.SecureServing.BindPort = 6443
	library.SecureServing.ServerCert.CertDirectory = "" // A self-signed certificate stays in memory.
	library.SecureServing.ServerCert.PairName = "forewarm"
	library.Authorization.AllowCacheTTL = time.Minute
	library.Authorization.DenyCacheTTL = 10 * time.Second
	library.Features.EnableProfiling = false
	library.EnableMetrics = false // Our /metrics has both registries.
	return ClusterOptions{Groups: AllGroups(), Library: library}
}

// AddFlags binds the options to flags. The names of the library's flags are those of every aggregated API server.
func (o *ClusterOptions) AddFlags(flags *pflag.FlagSet) {
	o.Groups.AddFlags(flags)
	flags.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig,
		"kubeconfig of the cluster; without it that of the pod's service account")
	o.Library.SecureServing.AddFlags(flags)
	o.Library.Authentication.AddFlags(flags)
	o.Library.Authorization.AddFlags(flags)
}

// HasCertificateFiles reports whether the certificate to serve with is given as files.
func (o *ClusterOptions) HasCertificateFiles() bool {
	given := o.Library.SecureServing.ServerCert.CertKey
	return given.CertFile != "" || given.KeyFile != ""
}

// Validate returns every problem at once.
func (o *ClusterOptions) Validate() error {
	if o.Library == nil {
		return errors.New("cluster options without the library's: start from DefaultClusterOptions")
	}
	problems := append(o.Library.Validate(), o.checkFiles())
	if serving := o.Library.SecureServing; serving.BindPort == 0 && serving.Listener == nil {
		problems = append(problems, errors.New("--secure-port is 0: write a port, for example 6443"))
	}
	authorization := o.Library.Authorization
	if authorization.AllowCacheTTL < 0 || authorization.DenyCacheTTL < 0 {
		problems = append(problems, fmt.Errorf("--authorization-webhook-cache-*-ttl are %s and %s: write 0 or more",
			authorization.AllowCacheTTL, authorization.DenyCacheTTL))
	}
	return errors.Join(problems...)
}

// checkFiles reports the flags whose files cannot be valid.
func (o *ClusterOptions) checkFiles() error {
	authentication, certificate := o.Library.Authentication, o.Library.SecureServing.ServerCert.CertKey
	return errors.Join(
		cmdline.CheckFlagFiles(cmdline.MaxSettings, cmdline.FileFlag{Name: "--kubeconfig", Path: o.Kubeconfig},
			cmdline.FileFlag{Name: "--authentication-kubeconfig", Path: authentication.RemoteKubeConfigFile},
			cmdline.FileFlag{Name: "--authorization-kubeconfig", Path: o.Library.Authorization.RemoteKubeConfigFile}),
		cmdline.CheckFlagFiles(cmdline.MaxSecret, cmdline.FileFlag{Name: "--tls-cert-file", Path: certificate.CertFile},
			cmdline.FileFlag{Name: "--tls-private-key-file", Path: certificate.KeyFile},
			cmdline.FileFlag{Name: "--client-ca-file", Path: authentication.ClientCert.ClientCA},
			cmdline.FileFlag{Name: "--requestheader-client-ca-file", Path: authentication.RequestHeader.ClientCAFile}),
	)
}

// StandaloneOptions configure a server without a cluster.
type StandaloneOptions struct {
	// Port on 127.0.0.1; 0 means any free port.
	Port int
}

// DefaultStandaloneOptions serve on port 8080.
func DefaultStandaloneOptions() StandaloneOptions { return StandaloneOptions{Port: 8080} }

// AddFlags binds the options to flags.
func (o *StandaloneOptions) AddFlags(flags *pflag.FlagSet) {
	flags.IntVar(&o.Port, "port", o.Port, "port of the standalone server on 127.0.0.1; 0 means any free port")
}

// Validate returns every problem at once.
func (o *StandaloneOptions) Validate() error {
	if o.Port < 0 || o.Port > 65535 {
		return fmt.Errorf("--port %d is not a port: write 1 to 65535, or 0 for any free port", o.Port)
	}
	return nil
}

// CertificateFile is the file of the certificate to serve with; empty where it is not given as a file.
func (o *ClusterOptions) CertificateFile() string {
	return o.Library.SecureServing.ServerCert.CertKey.CertFile
}
