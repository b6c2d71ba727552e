package serve

import (
	"context"
	"crypto/tls"
	"fmt"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// certificates are the TLS settings of the library's options. They are reloaded when their files or the cluster's
// authorities change; new connections use the newest.
type apiCertificates genericapiserver.SecureServingInfo

// tlsConfig returns a TLS configuration that reloads the certificates until the context ends.
func (c *apiCertificates) tlsConfig(ctx context.Context) (*tls.Config, error) {
	base := &tls.Config{
		MinVersion: max(tls.VersionTLS12, c.MinTLSVersion), CipherSuites: c.CipherSuites,
		CurvePreferences: c.CurvePreferences, NextProtos: []string{"h2", "http/1.1"},
	}
	if c.DisableHTTP2 {
		base.NextProtos = []string{"http/1.1"}
	}
	if c.ClientCA != nil {
		base.ClientAuth = tls.RequestClientCert // Optional: the authenticators accept other credentials too.
	}
	current := dynamiccertificates.NewDynamicServingCertificateController(base, c.ClientCA, c.Cert, c.SNICerts, nil)
	sources := []any{c.ClientCA, c.Cert}
	for _, named := range c.SNICerts {
		sources = append(sources, named)
	}
	for _, source := range sources {
		if changing, ok := source.(dynamiccertificates.Notifier); ok {
			changing.AddListener(current)
		}
		if reader, ok := source.(dynamiccertificates.ControllerRunner); ok {
			// A file that cannot be read yet is read later; until then it authenticates nobody.
			_ = reader.RunOnce(ctx) //nolint:errcheck // It logs its error and tries again.
			go reader.Run(ctx, 1)
		}
	}
	if err := current.RunOnce(); err != nil {
		return nil, fmt.Errorf("load the serving certificates: %w", err)
	}
	go current.Run(1, ctx.Done())
	base.GetConfigForClient = current.GetConfigForClient
	return base, nil
}
