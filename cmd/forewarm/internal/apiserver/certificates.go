package apiserver

import (
	"context"
	"crypto/tls"
	"fmt"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// certificates are what the library's options say of TLS. They follow their files and the cluster's authorities: a new
// connection is met with what they say now.
type certificates genericapiserver.SecureServingInfo

// follow is the configuration of TLS, which follows the certificates until the context ends.
func (c *certificates) follow(ctx context.Context) (*tls.Config, error) {
	base := &tls.Config{
		MinVersion: max(tls.VersionTLS12, c.MinTLSVersion), CipherSuites: c.CipherSuites,
		CurvePreferences: c.CurvePreferences, NextProtos: []string{"h2", "http/1.1"},
	}
	if c.DisableHTTP2 {
		base.NextProtos = []string{"http/1.1"}
	}
	if c.ClientCA != nil {
		base.ClientAuth = tls.RequestClientCert // The authenticators judge it: there are other ways to say who one is.
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
			// What cannot be read yet is read later; until then it vouches for nobody.
			_ = reader.RunOnce(ctx) //nolint:errcheck // It logs its error and tries again.
			go reader.Run(ctx, 1)
		}
	}
	if err := current.RunOnce(); err != nil {
		return nil, fmt.Errorf("certificates to serve with: %w", err)
	}
	go current.Run(1, ctx.Done())
	base.GetConfigForClient = current.GetConfigForClient
	return base, nil
}
