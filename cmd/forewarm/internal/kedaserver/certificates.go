package kedaserver

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"

	"google.golang.org/grpc/credentials"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// certificates follow their files: a new connection is met with what they say now. Connections that are there go on. A file
// that cannot be read, or a key that is not the certificate's (they are written one after the other), changes nothing.
type certificates struct {
	serving   *dynamiccertificates.DynamicCertKeyPairContent
	authority *dynamiccertificates.DynamicFileCAContent
	current   *dynamiccertificates.DynamicServingCertificateController
}

// openCertificates reads the files for the first time.
func openCertificates(o Options) (*certificates, error) {
	serving, err := dynamiccertificates.NewDynamicServingContentFromFiles("keda", o.CertFile, o.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("certificate of KEDA's scaler: %w", err)
	}
	authority, err := dynamiccertificates.NewDynamicCAContentFromFile("keda-client-ca", o.ClientCAFile)
	if err != nil {
		return nil, fmt.Errorf("authority of the clients of KEDA's scaler: %w", err)
	}
	base := &tls.Config{
		MinVersion: tls.VersionTLS12,
		ClientAuth: tls.RequireAndVerifyClientCert,
		NextProtos: []string{"h2"},
		// A resumed session would pass over the check of the client's certificate against the authorities of now.
		SessionTicketsDisabled: true,
	}
	current := dynamiccertificates.NewDynamicServingCertificateController(base, authority, serving, nil, nil)
	serving.AddListener(current)
	authority.AddListener(current)
	if err := current.RunOnce(); err != nil {
		return nil, fmt.Errorf("certificates of KEDA's scaler: %w", err)
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

// credentials ask for the configuration at each handshake.
func (c *certificates) credentials() credentials.TransportCredentials { //nolint:ireturn // As the library has it.
	return credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS12, GetConfigForClient: c.current.GetConfigForClient,
	})
}
