package serve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"sync"

	"google.golang.org/grpc/credentials"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// certificates are reloaded when their files or Forewarm's own authority change; new connections use the newest, open ones
// continue. A file that cannot be read, or a key that does not fit the certificate (they are written one after the other),
// changes nothing.
type kedaCertificates struct {
	current *dynamiccertificates.DynamicServingCertificateController
	// watchers of files; none for Forewarm's own authority.
	watchers []dynamiccertificates.ControllerRunner
}

// openCertificates reads the certificates for the first time.
func kedaOpenCertificates(o KEDAOptions) (*kedaCertificates, error) {
	out, serving, clients := &kedaCertificates{}, o.Serving, o.Clients
	if o.hasFiles() {
		cert, err := dynamiccertificates.NewDynamicServingContentFromFiles("keda", o.CertFile, o.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("load the certificate of KEDA's scaler: %w", err)
		}
		authority, err := dynamiccertificates.NewDynamicCAContentFromFile("keda-client-ca", o.ClientCAFile)
		if err != nil {
			return nil, fmt.Errorf("load the client certificate authority of KEDA's scaler: %w", err)
		}
		serving, clients = cert, authority
		out.watchers = []dynamiccertificates.ControllerRunner{cert, authority}
	}
	base := &tls.Config{
		MinVersion: tls.VersionTLS12,
		ClientAuth: tls.RequireAndVerifyClientCert,
		// Nobody is trusted while the authority is unknown; without a pool the machine's authorities would be.
		ClientCAs:  x509.NewCertPool(),
		NextProtos: []string{"h2"},
		// A resumed session would skip the check of the client's certificate against the current authorities.
		SessionTicketsDisabled: true,
	}
	out.current = dynamiccertificates.NewDynamicServingCertificateController(base, clients, serving, nil, nil)
	for _, source := range []any{serving, clients} {
		if changing, ok := source.(dynamiccertificates.Notifier); ok {
			changing.AddListener(out.current)
		}
	}
	if err := out.current.RunOnce(); err != nil {
		return nil, fmt.Errorf("load the certificates of KEDA's scaler: %w", err)
	}
	return out, nil
}

// follow watches for changes until the context ends.
func (c *kedaCertificates) follow(ctx context.Context) {
	var running sync.WaitGroup
	for _, watcher := range c.watchers {
		running.Go(func() { watcher.Run(ctx, 1) })
	}
	running.Go(func() { c.current.Run(1, ctx.Done()) })
	running.Wait()
}

// credentials use the current certificates at each handshake.
func (c *kedaCertificates) credentials() credentials.TransportCredentials { //nolint:ireturn // The library's type.
	return credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS12, GetConfigForClient: c.current.GetConfigForClient,
	})
}
