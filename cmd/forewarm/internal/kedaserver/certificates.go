package kedaserver

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"

	"google.golang.org/grpc/credentials"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// certificates are reloaded when their files change; new connections use the newest, open ones continue. A file that
// cannot be read, or a key that does not fit the certificate (they are written one after the other), changes nothing.
type certificates struct {
	serving   *dynamiccertificates.DynamicCertKeyPairContent
	authority *dynamiccertificates.DynamicFileCAContent
	current   *dynamiccertificates.DynamicServingCertificateController
}

// openCertificates reads the files for the first time.
func openCertificates(o Options) (*certificates, error) {
	serving, err := dynamiccertificates.NewDynamicServingContentFromFiles("keda", o.CertFile, o.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("load the certificate of KEDA's scaler: %w", err)
	}
	authority, err := dynamiccertificates.NewDynamicCAContentFromFile("keda-client-ca", o.ClientCAFile)
	if err != nil {
		return nil, fmt.Errorf("load the client certificate authority of KEDA's scaler: %w", err)
	}
	base := &tls.Config{
		MinVersion: tls.VersionTLS12,
		ClientAuth: tls.RequireAndVerifyClientCert,
		NextProtos: []string{"h2"},
		// A resumed session would skip the check of the client's certificate against the current authorities.
		SessionTicketsDisabled: true,
	}
	current := dynamiccertificates.NewDynamicServingCertificateController(base, authority, serving, nil, nil)
	serving.AddListener(current)
	authority.AddListener(current)
	if err := current.RunOnce(); err != nil {
		return nil, fmt.Errorf("load the certificates of KEDA's scaler: %w", err)
	}
	return &certificates{serving: serving, authority: authority, current: current}, nil
}

// follow watches the files until the context ends.
func (c *certificates) follow(ctx context.Context) {
	var running sync.WaitGroup
	running.Go(func() { c.serving.Run(ctx, 1) })
	running.Go(func() { c.authority.Run(ctx, 1) })
	running.Go(func() { c.current.Run(1, ctx.Done()) })
	running.Wait()
}

// credentials use the current certificates at each handshake.
func (c *certificates) credentials() credentials.TransportCredentials { //nolint:ireturn // The library's type.
	return credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS12, GetConfigForClient: c.current.GetConfigForClient,
	})
}
