package clustertest

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"
	"k8s.io/client-go/rest"
)

const (
	forewarmNamespace = "forewarm-system"
	forewarmService   = "forewarm"
)

// installation is what Forewarm's replicas share.
type installation struct {
	kubeconfig string
	balancer   *balancer
}

// Unverified is for requests to a replica itself: the kube-apiserver verifies it, and these pass it by.
func Unverified() *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12} //nolint:gosec // As it says.
}

// Administrator is a client with all rights for requests to a server itself.
func (c *Cluster) Administrator() (*http.Client, error) {
	own := rest.CopyConfig(c.Config)
	own.CAData, own.CAFile, own.Insecure = nil, "", true
	config, err := rest.TLSConfigFor(own)
	transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}
	return &http.Client{Timeout: 10 * time.Second, Transport: transport}, err
}

// Replica is a running replica of Forewarm.
type Replica struct {
	*processtest.Process
	URL string

	program processtest.Program
	cluster *Cluster
}

// Install applies Forewarm's manifests (a folder of deploy, such as deploy/default) and routes its Service to the
// replicas. The pods of its Deployment are simulated; the replicas are processes with the same rights.
func (c *Cluster) Install(ctx context.Context, folder string) error {
	if _, err := c.Kubectl(ctx, "", "apply", "--server-side", "-k", folder); err != nil {
		return err
	}
	return c.join(ctx)
}

// join prepares what the replicas share.
func (c *Cluster) join(ctx context.Context) error {
	var err error
	if c.forewarm.kubeconfig, err = c.serviceAccountKubeconfig(ctx, forewarmNamespace, "forewarm"); err != nil {
		return err
	}
	if c.forewarm.balancer, err = newBalancer(ctx); err != nil {
		return err
	}
	return c.route(ctx, forewarmNamespace, forewarmService, c.forewarm.balancer.port)
}

// StartForewarm starts one more replica and returns when it is ready: when it has read the histories.
func (c *Cluster) StartForewarm(ctx context.Context, name string, args ...string) (*Replica, error) {
	return c.startForewarm(ctx, name, c.Components.Forewarm, nil, append(args, c.servicePort())...)
}

// StartTraced does the same of a replica that logs its collections of garbage.
func (c *Cluster) StartTraced(ctx context.Context, name string, args ...string) (*Replica, error) {
	return c.startForewarm(
		ctx,
		name,
		c.Components.Forewarm,
		[]string{processtest.TraceCollections},
		append(args, c.servicePort())...)
}

// servicePort is the flag with the port at which the replicas' Service is reached.
func (c *Cluster) servicePort() string {
	return "--service-port=" + strconv.Itoa(c.forewarm.balancer.port)
}

func (c *Cluster) startForewarm(
	ctx context.Context, name, binary string, environment []string, args ...string,
) (*Replica, error) {
	port, err := processtest.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	r := &Replica{cluster: c, URL: fmt.Sprintf("https://127.0.0.1:%d", port), program: processtest.Program{
		Name: name, Binary: binary, Env: environment, Args: slices.Concat([]string{"serve"}, args, []string{
			"--kubeconfig=" + c.forewarm.kubeconfig, "--bind-address=127.0.0.1", "--secure-port=" + strconv.Itoa(port),
		}),
	}}
	if err := r.Start(ctx); err != nil {
		return nil, err
	}
	c.forewarm.balancer.add(strings.TrimPrefix(r.URL, "https://"))
	return r, nil
}

// Retire stops a replica as a rolling update does: it gets no new connections, then it is asked to end.
func (c *Cluster) Retire(r *Replica) error {
	c.forewarm.balancer.remove(strings.TrimPrefix(r.URL, "https://"))
	return r.Stop()
}

// Crash kills a replica; it gets no new connections.
func (c *Cluster) Crash(r *Replica) {
	c.forewarm.balancer.remove(strings.TrimPrefix(r.URL, "https://"))
	r.Kill()
}

// Recover starts a replica that crashed, and lets it have connections once it is ready.
func (c *Cluster) Recover(ctx context.Context, r *Replica, patience time.Duration) error {
	if err := r.start(ctx, patience); err != nil {
		return err
	}
	c.forewarm.balancer.add(strings.TrimPrefix(r.URL, "https://"))
	return nil
}

// Start starts it, also again after a Stop or Kill, at the same address.
func (r *Replica) Start(ctx context.Context) error { return r.start(ctx, startTimeout) }

func (r *Replica) start(ctx context.Context, patience time.Duration) error {
	var err error
	if r.Process, err = r.cluster.Run(r.program); err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: Unverified(), DisableKeepAlives: true}}
	return r.AwaitHealthy(ctx, patience, client, r.URL+"/readyz")
}

// WaitAvailable waits until Forewarm has taken the API groups that no other server holds, and the aggregator serves them.
func (c *Cluster) WaitAvailable(ctx context.Context) error {
	return Eventually(ctx, startTimeout, func(ctx context.Context) error {
		groups, err := c.Kubectl(ctx, "", "get", "apiservices", "-o", `jsonpath={range .items[*]}{.spec.group} `+
			`{.spec.service.name}={.status.conditions[?(@.type=="Available")].status}{"\n"}{end}`)
		if err != nil {
			return err
		}
		for _, group := range []string{"external.metrics.k8s.io", "custom.metrics.k8s.io", "inspect.forewarm.dev"} {
			held := strings.Contains(groups, group+" "+forewarmService+"=True") ||
				strings.Contains(groups, group+" ") && !strings.Contains(groups, group+" "+forewarmService+"=")
			if !held {
				return fmt.Errorf("%s is not available: %s", group, groups)
			}
		}
		return nil
	})
}

// Eventually repeats a check until it returns nil, or until a timeout.
func Eventually(ctx context.Context, limit time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %s still: %w", limit, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
