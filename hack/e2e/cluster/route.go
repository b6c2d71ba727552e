package cluster

import (
	"context"
	"encoding/base64"
	"fmt"
)

// route routes a Service, and the APIServices that name it, to a port of this machine. Loopback addresses are not
// allowed in Endpoints, but the name localhost is in a Service.
func (c *Cluster) route(ctx context.Context, namespace, name string, port int, apiServices ...string) error {
	if _, err := c.Kubectl(ctx, "", "delete", "service", "-n", namespace, name, "--ignore-not-found"); err != nil {
		return err
	}
	_, err := c.Kubectl(
		ctx,
		"",
		"create",
		"service",
		"externalname",
		"-n",
		namespace,
		name,
		"--external-name=localhost",
	)
	if err != nil {
		return err
	}
	patch := fmt.Sprintf(`{"spec": {"service": {"port": %d}, "insecureSkipTLSVerify": false, "caBundle": %q}}`,
		port, base64.StdEncoding.EncodeToString(c.authority.pem))
	for _, a := range apiServices {
		if _, err := c.Kubectl(ctx, "", "patch", a, "--type=merge", "-p", patch); err != nil {
			return err
		}
	}
	return nil
}
