package apiserver

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	adapteroptions "sigs.k8s.io/custom-metrics-apiserver/pkg/cmd/options"

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

// AllGroups serves all groups, and registers the groups that no other server has registered.
func AllGroups() Groups {
	return Groups{External: aggregation.Auto, Custom: aggregation.Auto, Inspect: aggregation.Auto}
}

// Modes of the groups by their names.
func (g *Groups) Modes() map[string]aggregation.Mode {
	return map[string]aggregation.Mode{
		aggregation.External: g.External, aggregation.Custom: g.Custom, aggregation.Inspect: g.Inspect,
	}
}

// ClusterConfig configures a server in a cluster.
type ClusterConfig struct {
	Groups
	// Kubeconfig of the cluster to which authentication and authorization are delegated; empty means the pod's own cluster.
	Kubeconfig string
	// Certificate to serve with if Library specifies no files; nil means a certificate that clients cannot verify.
	Certificate dynamiccertificates.CertKeyContentProvider
	// Library contains the options for TLS, authentication and authorization.
	Library *adapteroptions.CustomMetricsAdapterServerOptions
}

// DefaultClusterConfig serve all groups on port 6443. A review that allows a request is kept for 60 s, longer than
// the HPA's sync period of 15 s, so that an HPA's next request needs no review; one that denies it for 10 s.
func DefaultClusterConfig() ClusterConfig {
	library := adapteroptions.NewCustomMetricsAdapterServerOptions()
	library.SecureServing.BindPort = 6443
	library.SecureServing.ServerCert.CertDirectory = "" // A self-signed certificate stays in memory.
	library.SecureServing.ServerCert.PairName = "forewarm"
	library.Authorization.AllowCacheTTL = time.Minute
	library.Authorization.DenyCacheTTL = 10 * time.Second
	library.Features.EnableProfiling = false
	library.EnableMetrics = false // Our own /metrics serves the metrics of both registries.
	return ClusterConfig{Groups: AllGroups(), Library: library}
}

// HasCertificateFiles reports whether the serving certificate is from files.
func (c *ClusterConfig) HasCertificateFiles() bool {
	given := c.Library.SecureServing.ServerCert.CertKey
	return given.CertFile != "" || given.KeyFile != ""
}

// Validate returns all problems.
func (c *ClusterConfig) Validate() error {
	if c.Library == nil {
		return errors.New("the cluster options lack the options of the library: start from DefaultClusterConfig")
	}
	problems := c.Library.Validate()
	if serving := c.Library.SecureServing; serving.BindPort == 0 && serving.Listener == nil {
		problems = append(problems, errors.New("--secure-port is 0: set a port, for example 6443"))
	}
	authorization := c.Library.Authorization
	if authorization.AllowCacheTTL < 0 || authorization.DenyCacheTTL < 0 {
		problems = append(problems, fmt.Errorf("--authorization-webhook-cache-*-ttl are %s and %s: set 0 or more",
			authorization.AllowCacheTTL, authorization.DenyCacheTTL))
	}
	return errors.Join(problems...)
}

// StandaloneConfig configures a server without a cluster.
type StandaloneConfig struct {
	// Port on 127.0.0.1; 0 means any free port.
	Port int
}

// DefaultStandaloneConfig serves on port 8080.
func DefaultStandaloneConfig() StandaloneConfig { return StandaloneConfig{Port: 8080} }

// Validate returns all problems.
func (c *StandaloneConfig) Validate() error {
	if c.Port < 0 || c.Port > 65535 {
		return fmt.Errorf("--port %d is not a port: write 1 to 65535, or 0 for any free port", c.Port)
	}
	return nil
}

// CertificateFile is the file of the serving certificate; empty if the certificate is not from a file.
func (c *ClusterConfig) CertificateFile() string {
	return c.Library.SecureServing.ServerCert.CertKey.CertFile
}
