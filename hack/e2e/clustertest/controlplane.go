package clustertest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"
)

// startTimeout bounds the start of a component, on a busy machine.
const startTimeout = 90 * time.Second

// part is a part of Kubernetes, or etcd.
func (c *Cluster) part(name string, args ...string) processtest.Program {
	return processtest.Program{Name: name, Binary: filepath.Join(c.Components.Kubernetes, name), Args: args}
}

// runPart runs one.
func (c *Cluster) runPart(name string, args ...string) (*processtest.Process, error) {
	return c.Run(c.part(name, args...))
}

func (c *Cluster) startEtcd(ctx context.Context) error {
	client, err := processtest.FreePort(ctx)
	if err != nil {
		return err
	}
	peer, err := processtest.FreePort(ctx)
	if err != nil {
		return err
	}
	c.etcd = fmt.Sprintf("http://127.0.0.1:%d", client)
	peers := fmt.Sprintf("http://127.0.0.1:%d", peer)
	p, err := c.runPart("etcd",
		"--data-dir="+filepath.Join(c.Dir, "etcd"),
		"--listen-client-urls="+c.etcd, "--advertise-client-urls="+c.etcd,
		"--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers,
		"--initial-cluster=default="+peers,
		"--unsafe-no-fsync", // The data need not be durable.
		"--log-level=warn",
	)
	if err != nil {
		return err
	}
	return p.AwaitHealthy(ctx, startTimeout, http.DefaultClient, c.etcd+"/health")
}

func (c *Cluster) startAPIServer(ctx context.Context) error {
	port, err := processtest.FreePort(ctx)
	if err != nil {
		return err
	}
	serving, err := c.authority.issue("apiserver", "kube-apiserver", nil, "kubernetes", "kubernetes.default.svc")
	if err != nil {
		return err
	}
	proxy, err := c.authority.issue("front-proxy", "front-proxy", nil)
	if err != nil {
		return err
	}
	c.host = fmt.Sprintf("https://127.0.0.1:%d", port)
	c.apiServer.program = c.part("kube-apiserver",
		"--etcd-servers="+c.etcd,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port="+strconv.Itoa(port),
		"--tls-cert-file="+serving.certificate, "--tls-private-key-file="+serving.key,
		"--client-ca-file="+c.authority.file(),
		"--authorization-mode=Node,RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+serving.certificate, "--service-account-signing-key-file="+serving.key,
		"--service-cluster-ip-range=10.96.0.0/16",
		// The kubernetes Service would have an endpoint on loopback, which is not allowed.
		"--endpoint-reconciler-type=none",
		// The aggregator authenticates with its own certificate, and finds a server by the name in its Service.
		"--requestheader-client-ca-file="+c.authority.file(), "--requestheader-allowed-names=front-proxy",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file="+proxy.certificate, "--proxy-client-key-file="+proxy.key,
		"--enable-aggregator-routing=false",
		"--enable-priority-and-fairness=false",
	)
	c.apiServer.client = &http.Client{
		Transport: &http.Transport{TLSClientConfig: c.Trust(), DisableKeepAlives: true},
	}
	if err := c.awaitAPIServer(ctx); err != nil {
		return err
	}
	return c.initAdministrator()
}

// awaitAPIServer runs the kube-apiserver until it is ready.
func (c *Cluster) awaitAPIServer(ctx context.Context) error {
	var err error
	if c.apiServer.process, err = c.Run(c.apiServer.program); err != nil {
		return err
	}
	return c.apiServer.process.AwaitHealthy(ctx, startTimeout, c.apiServer.client, c.host+"/readyz")
}

// RestartAPIServer kills the kube-apiserver, and returns when it is ready again.
func (c *Cluster) RestartAPIServer(ctx context.Context) error {
	c.apiServer.process.Kill()
	return c.awaitAPIServer(ctx)
}

func (c *Cluster) startControllerManager(ctx context.Context) error {
	kubeconfig, err := c.certificateKubeconfig("controller-manager", "system:kube-controller-manager")
	if err != nil {
		return err
	}
	port, err := processtest.FreePort(ctx)
	if err != nil {
		return err
	}
	c.manager.program = c.part("kube-controller-manager",
		"--kubeconfig="+kubeconfig,
		"--authentication-kubeconfig="+kubeconfig,
		"--authorization-kubeconfig="+kubeconfig,
		"--bind-address=127.0.0.1",
		"--secure-port="+strconv.Itoa(port),
		"--leader-elect=false",
		"--cert-dir="+filepath.Join(c.Dir, "controller-manager"),
		"--service-account-private-key-file="+filepath.Join(c.Dir, "apiserver.key"),
		"--root-ca-file="+c.authority.file(),
		"--use-service-account-credentials",
		// Hundreds of HPAs every two seconds exceed the default limit of 20 requests a second.
		"--kube-api-qps=1000", "--kube-api-burst=2000",
		"--horizontal-pod-autoscaler-sync-period="+c.Sync.String(),
		"--horizontal-pod-autoscaler-downscale-stabilization="+c.Stabilization.String(),
	)
	if c.manager.process, err = c.Run(c.manager.program); err != nil {
		return err
	}
	// The controllers work once the default service account exists.
	return c.manager.process.Await(ctx, startTimeout, func(ctx context.Context) error {
		_, err := c.Kubectl(ctx, "", "get", "serviceaccount", "default", "-n", "default")
		return err
	})
}

// RestartControllerManager kills the kube-controller-manager, and starts it again with further arguments.
func (c *Cluster) RestartControllerManager(args ...string) error {
	c.manager.process.Kill()
	program := c.manager.program
	program.Args = append(slices.Clone(program.Args), args...)
	var err error
	c.manager.process, err = c.Run(program)
	return err
}

func (c *Cluster) startScheduler(ctx context.Context) error {
	kubeconfig, err := c.certificateKubeconfig("scheduler", "system:kube-scheduler")
	if err != nil {
		return err
	}
	port, err := processtest.FreePort(ctx)
	if err != nil {
		return err
	}
	_, err = c.runPart("kube-scheduler",
		"--kubeconfig="+kubeconfig,
		"--authentication-kubeconfig="+kubeconfig,
		"--authorization-kubeconfig="+kubeconfig,
		"--bind-address=127.0.0.1",
		"--secure-port="+strconv.Itoa(port),
		"--leader-elect=false",
	)
	return err
}

// Trust returns a client configuration with the cluster's authority.
func (c *Cluster) Trust() *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(c.authority.certificate)
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}
