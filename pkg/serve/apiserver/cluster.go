package apiserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"

	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/authorization/path"
	"k8s.io/apiserver/pkg/authorization/union"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	adapter "sigs.k8s.io/custom-metrics-apiserver/pkg/apiserver"

	"github.com/forewarm/forewarm/pkg/run"
)

// Cluster is the server in a cluster: TLS, with authentication and authorization delegated to the cluster on every
// path.
type Cluster struct{ web *web }

// NewCluster opens the port and reads how the cluster authenticates. It fails where the identity lacks the roles
// system:auth-delegator and extension-apiserver-authentication-reader.
func NewCluster(options ClusterConfig, deps Deps) (*Cluster, error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	config, err := clusterConfig(options)
	if err != nil {
		return nil, err
	}
	kept := options.Library.Authorization
	config.Authorization.Authorizer = cachedGrants(config.Authorization.Authorizer, kept.AllowCacheTTL,
		kept.DenyCacheTTL)
	if proxy := config.Authentication.RequestHeaderConfig; proxy != nil {
		config.Authentication.Authenticator = newFrontProxy(
			proxy,
			run.WallClock{}.Now,
			config.Authentication.Authenticator,
		)
	}
	deps.Ready = append([]run.Check{trustCheck(&config.Config)}, deps.Ready...)
	server, err := newGenericServer(&config.Config, config.SharedInformerFactory, options.Groups, deps)
	if err != nil {
		return nil, errors.Join(err, config.SecureServing.Listener.Close())
	}
	serving := config.SecureServing
	server.SecureServingInfo = nil // web serves the requests, not the library.
	return &Cluster{&web{
		generic: server, listener: serving.Listener, logger: deps.Logger, guard: readOnly,
		secure: (*apiCertificates)(serving), streams: cmp.Or(serving.HTTP2MaxStreamsPerConnection, 100),
	}}, nil
}

// clusterConfig applies the library's options to a configuration for the cluster.
func clusterConfig(options ClusterConfig) (*genericapiserver.RecommendedConfig, error) {
	client, err := clientcmd.BuildConfigFromFlags("", options.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("there is no cluster for authentication: set --kubeconfig or --standalone: %w", err)
	}
	clients, err := kubernetes.NewForConfig(client)
	if err != nil {
		return nil, fmt.Errorf("create a client for the cluster: %w", err)
	}
	library := *options.Library
	authentication, authorization := *library.Authentication, *library.Authorization
	authentication.RemoteKubeConfigFile = cmp.Or(authentication.RemoteKubeConfigFile, options.Kubeconfig)
	authorization.RemoteKubeConfigFile = cmp.Or(authorization.RemoteKubeConfigFile, options.Kubeconfig)
	authorization.AllowCacheTTL, authorization.DenyCacheTTL = 0, 0 // The grants cache decisions instead.
	library.Authentication, library.Authorization = &authentication, &authorization
	config := genericapiserver.NewRecommendedConfig(adapter.Codecs)
	config.ClientConfig = client
	config.SharedInformerFactory = informers.NewSharedInformerFactory(clients, 0)
	if err = library.ApplyTo(config); err != nil {
		return nil, fmt.Errorf("configure the API server: %w", err)
	}
	if config.Authorization.Authorizer, err = reviewing(&authorization); err != nil {
		return nil, fmt.Errorf("configure the authorization: %w", err)
	}
	if options.Certificate != nil && !options.HasCertificateFiles() {
		config.SecureServing.Cert = options.Certificate
	}
	return config, nil
}

// reviewing returns the library's authorizer with a client that has no rate limit. The library's client sends at most 200 reviews a second.
// A replica that takes over thousands of HPAs would answer most of them with 429 until all are reviewed, and again whenever the reviews
// expire. Forewarm limits the requests in flight, and the kube-apiserver has its own priority and fairness.
func reviewing(o *genericoptions.DelegatingAuthorizationOptions) (authorizer.Authorizer, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.RemoteKubeConfigFile)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Timeout = -1, o.ClientTimeout
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	reviews, err := authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: clients.AuthorizationV1(), WebhookRetryBackoff: o.WebhookRetryBackoff,
	}.New()
	if err != nil {
		return nil, err
	}
	paths, err := path.NewAuthorizer(o.AlwaysAllowPaths)
	if err != nil {
		return nil, err
	}
	return union.New(
		union.NamedAuthorizer{
			AuthorizerName: "kubernetes.io/always-allow-groups",
			Authorizer:     authorizerfactory.NewPrivilegedGroups(o.AlwaysAllowGroups...),
		},
		union.NamedAuthorizer{AuthorizerName: "kubernetes.io/always-allow-paths", Authorizer: paths},
		union.NamedAuthorizer{AuthorizerName: "kubernetes.io/webhook", Authorizer: reviews},
	)
}

// trustCheck passes once the certificate authority of the cluster's front proxy has been read in the background. Until then, the
// aggregator's requests would count as anonymous and be rejected.
func trustCheck(config *genericapiserver.Config) run.Check {
	return run.Check{Name: "front-proxy-ca", Run: func() error {
		proxy := config.Authentication.RequestHeaderConfig
		if proxy != nil && len(proxy.CAContentProvider.CurrentCABundleContent()) == 0 {
			return errors.New("the front proxy certificate authority of the cluster has not been read yet")
		}
		return nil
	}}
}

// Addr is the address that it listens on.
func (c *Cluster) Addr() net.Addr { return c.web.listener.Addr() }

// Run serves until the context ends and then lets requests finish.
func (c *Cluster) Run(ctx context.Context) error { return c.web.run(ctx, "https://"+c.Addr().String()) }
