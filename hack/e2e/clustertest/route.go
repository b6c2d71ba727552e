package clustertest

import (
	"context"
	"encoding/base64"
	"fmt"
)

// route routes a Service, and the APIServices that name it, to a port of this machine. Loopback addresses are not
// allowed in Endpoints, but the name localhost is in a Service.
func (c *Cluster) route(ctx context.Context, namespace, name string, port int, apiServices ...string) error {
	// A patch, so that anyone who applies the Service again finds it as it was but for this.
	const external = `{"spec": {"type": "ExternalName", "externalName": "localhost"}}`
	if err := c.patch(ctx, "service/"+name, external, "-n", namespace); err != nil {
		return err
	}
	for _, name := range apiServices {
		to := fmt.Sprintf(`{"spec": {"service": {"port": %d}}}`, port)
		if err := c.patch(ctx, "apiservice/"+name, to); err != nil {
			return err
		}
	}
	return nil
}

// trust lets an APIService be verified by the cluster's authority.
func (c *Cluster) trust(ctx context.Context, apiService string) error {
	return c.patch(ctx, apiService, fmt.Sprintf(`{"spec": {"insecureSkipTLSVerify": false, "caBundle": %q}}`,
		base64.StdEncoding.EncodeToString(c.authority.pem)))
}

func (c *Cluster) patch(ctx context.Context, object, patch string, further ...string) error {
	_, err := c.Kubectl(ctx, "", append([]string{"patch", object, "--type=merge", "-p", patch}, further...)...)
	return err
}
