package serve

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/units"
	"github.com/prometheus/common/model"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/kube/aggregation"
	"github.com/forewarm/forewarm/pkg/kube/fleets"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
	"github.com/forewarm/forewarm/pkg/kube/pools"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
	"github.com/forewarm/forewarm/pkg/serve/kedaserver"
	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/source/embedded"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// Options are the command line's. Flags binds them, Validate checks them all.
type Options struct {
	// Standalone serves plain HTTP on loopback, without a cluster, by the options Local; otherwise by the options
	// Cluster.
	Standalone bool
	Local      apiserver.StandaloneConfig
	Cluster    apiserver.ClusterConfig
	// KEDA configures KEDA's external scaler, in either mode.
	KEDA kedaserver.Config
	// Authority configures the certificate authority of the servers in a cluster.
	Authority AuthorityOptions
	// Lease is the lease by which adapter replicas elect the writer of statuses.
	Lease forecasts.LeaseConfig
	// Service is forewarm's own, NAMESPACE/NAME, to which the APIServices should point; empty means forewarm in the
	// lease's namespace.
	Service string
	// ServicePort is the port of that Service, and Owner the ClusterRole with which Kubernetes deletes the APIServices that
	// the leader makes.
	ServicePort int
	Owner       string
	// ConfigDir is the folder of Forecasts; empty means the cluster's.
	ConfigDir string

	// Prometheus is the source of history where its URL is set.
	Prometheus prometheus.Config
	// SourcesFile lists the sources of history of each namespace. Where neither is set, the embedded engine is the source.
	SourcesFile string
	// SourcesPodIdentity lets these sources use the cloud identity of Forewarm's own pod.
	SourcesPodIdentity bool
	// DataDir, Retention, RetentionSize and ScrapeConfig are the embedded engine's.
	DataDir       string
	Retention     model.Duration
	RetentionSize units.Base2Bytes
	ScrapeConfig  string

	Refresh refresh.Config
	// DemandEvents: those of the cluster are read.
	DemandEvents bool
	// Fleets: the GPUFleets of the cluster are read and planned. FleetSources says what their GPUs may be counted from.
	Fleets       bool
	FleetSources fleets.Config
	// WarmPools configures the controller of warm pools.
	WarmPools pools.Config
	// TenantLabel and ClusterQueryNamespaces restrict what a namespace's own queries may read.
	TenantLabel            string
	ClusterQueryNamespaces []string
	// Limits bound what the Forecasts of a namespace take.
	Limits forecasts.Limits
	// Trust is whose series presets count.
	Trust signal.Trust

	Log cmdline.Log
	// TracingConfig is a file with a TracingConfiguration; empty means no traces.
	TracingConfig string

	// Version of the program, by which replicas are compared.
	Version string
	// flags has the flags that Flags bound to the options; nil before.
	flags map[string]*pflag.FlagSet
}

// Defaults are the options of an empty command line.
func Defaults() Options {
	return Options{
		Authority:     defaultAuthority(),
		Lease:         ownLease(),
		ServicePort:   443,
		Owner:         "forewarm:server",
		Local:         apiserver.DefaultStandaloneConfig(),
		Cluster:       apiserver.DefaultClusterConfig(),
		DataDir:       "data",
		Retention:     model.Duration(16 * 24 * time.Hour),
		RetentionSize: embedded.DefaultMaxBytes,
		Refresh:       refresh.Config{}.WithDefaults(),
		WarmPools:     pools.Config{Step: 15 * time.Second},
		TenantLabel:   "namespace",
		Limits:        forecasts.DefaultLimits(),
		Trust:         signal.DefaultTrust(),
		Log:           cmdline.DefaultLog(),
	}
}

// ownLease returns a lease in the namespace of this pod. Its holder has the name of the pod, which is the host name.
func ownLease() forecasts.LeaseConfig {
	lease := forecasts.LeaseConfig{Namespace: "forewarm-system", Name: "forewarm"}
	if own, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace"); err == nil {
		lease.Namespace = strings.TrimSpace(string(own))
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	lease.Identity = fmt.Sprintf("%s_%d", host, os.Getpid())
	return lease
}

// Flags binds the options to flags, in the sections of the help.
func (o *Options) Flags() *cliflag.NamedFlagSets {
	var sections cliflag.NamedFlagSets
	serving := sections.FlagSet("Serving")
	serving.BoolVar(&o.Standalone, "standalone", o.Standalone, "serve plain HTTP on 127.0.0.1 only, without a cluster")
	serving.IntVar(&o.Local.Port, "port", o.Local.Port,
		"port of the standalone server on 127.0.0.1; 0 means any free port")
	o.Log.AddFlags(serving)
	serving.StringVar(&o.TracingConfig, "tracing-config-file", o.TracingConfig,
		"`file` with the TracingConfiguration for OpenTelemetry traces (docs/operations.md#traces); default: no traces")

	objects := sections.FlagSet("Forecasts")
	objects.StringVar(&o.ConfigDir, "config-dir", o.ConfigDir,
		"folder with Forecasts as YAML files; Forewarm reads them instead of the Forecasts in a cluster")
	objects.BoolVar(
		&o.DemandEvents,
		"demand-events",
		o.DemandEvents,
		"read the DemandEvents of the cluster (docs/events.md); this needs the permissions that the chart grants with demandEvents.enabled",
	)
	const fleetRight = "; this needs the permissions that the chart grants with "
	objects.BoolVar(&o.Fleets, "fleets", o.Fleets,
		"plan the GPUFleets of the cluster, and serve what batch work may use"+fleetRight+"fleets.enabled")
	objects.BoolVar(&o.FleetSources.Nodes, "fleet-nodes", o.FleetSources.Nodes,
		"count the GPUs of GPUFleets on nodes"+fleetRight+"fleets.nodes")
	objects.BoolVar(&o.FleetSources.ClusterQueues, "fleet-cluster-queues", o.FleetSources.ClusterQueues,
		"read the GPUs of GPUFleets from the quotas of Kueue's ClusterQueues"+fleetRight+"fleets.clusterQueues")
	objects.DurationVar(&o.Refresh.Refit, "refit", o.Refresh.Refit, "how often models are refitted")
	objects.DurationVar(&o.Refresh.Season, "season", o.Refresh.Season,
		"period in which the demand repeats; models are scored over this period")

	fromServer := sections.FlagSet("History from a Prometheus")
	fromServer.StringVar(&o.Prometheus.URL, "prometheus-url", o.Prometheus.URL,
		"URL of the Prometheus, Thanos, Mimir or VictoriaMetrics to read history from")
	cmdline.AddPrometheusFlags(fromServer, &o.Prometheus)

	granted := sections.FlagSet("History from several sources, by namespace")
	granted.StringVar(&o.SourcesFile, "sources-file", o.SourcesFile,
		"file that lists the history sources, and the namespaces that may use each of them (docs/sources.md)")
	granted.BoolVar(&o.SourcesPodIdentity, "sources-pod-identity", o.SourcesPodIdentity,
		"let every source in this file use the cloud identity of Forewarm's own pod or node "+
			"(docs/stores.md#managed-stores)")

	engine := sections.FlagSet("History from the embedded engine")
	engine.StringVar(&o.ScrapeConfig, "scrape-config", o.ScrapeConfig, "file with scrape_configs in Prometheus' format")
	engine.StringVar(&o.DataDir, "data-dir", o.DataDir, "folder of the engine's data")
	engine.Var(&o.Retention, "retention", "how long samples are kept, for example 16d")
	engine.TextVar(&o.RetentionSize, "retention-size", o.RetentionSize,
		"if the data on disk exceeds this `size` (for example 2GB) or 80 % of the disk, the oldest data is deleted")

	o.queryFlags(sections.FlagSet("Queries"))
	addKEDAFlags(sections.FlagSet("KEDA"), &o.KEDA)
	o.clusterFlags(sections.FlagSet("In a cluster"))
	o.flags = sections.FlagSets
	return &sections
}

// shownFlags lists the flags of an aggregated API server that the help shows. The others also work.
var shownFlags = []string{ //nolint:gochecknoglobals // A constant table.
	"kubeconfig", "secure-port", "bind-address", "tls-ca-secret", "tls-cert-file", "tls-private-key-file",
	"tls-ca-file", "serve-external-metrics", "serve-custom-metrics", "serve-inspect",
}

func (o *Options) clusterFlags(inCluster *pflag.FlagSet) {
	addClusterFlags(inCluster, &o.Cluster)
	o.Authority.addFlags(inCluster)
	// This flag is for tests, which run faster. The other times of warm pools are multiples of it.
	inCluster.DurationVar(&o.WarmPools.Step, "warm-pool-step", o.WarmPools.Step, "how often warm pools are planned for")
	inCluster.VisitAll(func(flag *pflag.Flag) { flag.Hidden = flag.Hidden || !slices.Contains(shownFlags, flag.Name) })
	inCluster.StringVar(&o.Lease.Namespace, "lease-namespace", o.Lease.Namespace, "namespace of this lease")
	inCluster.StringVar(&o.Lease.Name, "lease-name", o.Lease.Name,
		"name of the lease by which adapter replicas elect the one that writes statuses")
	inCluster.StringVar(&o.Service, "service", o.Service,
		"Forewarm's own Service (NAMESPACE/NAME), to which its APIServices point "+
			"(default: forewarm in the lease's namespace)")
	inCluster.IntVar(&o.ServicePort, "service-port", o.ServicePort, "port of the Service in --service")
	inCluster.StringVar(&o.Owner, "api-service-owner", o.Owner,
		"ClusterRole that owns the APIServices that the leader creates; when you delete it, Kubernetes deletes them, "+
			"too")
}

func (o *Options) queryFlags(flags *pflag.FlagSet) {
	r := &o.Refresh
	flags.DurationVar(&r.Timeout, "query-timeout", r.Timeout, "how long one query may take")
	flags.IntVar(&r.Concurrency, "query-concurrency", r.Concurrency,
		"how many queries may run against one source at the same time")
	flags.IntVar(&r.PerNamespace, "query-concurrency-per-namespace", r.PerNamespace,
		"how many queries of one namespace may run at the same time")
	flags.IntVar(&o.Limits.Forecasts, "max-forecasts-per-namespace", o.Limits.Forecasts,
		"how many Forecasts a namespace may have; 0 means no limit")
	flags.IntVar(&o.Limits.Points, "max-points-per-namespace", o.Limits.Points,
		"how many points (history divided by step) all Forecasts of a namespace may have in total; 0 means no limit")
	flags.StringVar(&o.TenantLabel, "tenant-label", o.TenantLabel,
		"label that contains the namespace; Forewarm uses it to restrict a namespace's own queries to series of that "+
			"namespace")
	flags.StringSliceVar(&o.ClusterQueryNamespaces, "cluster-query-namespaces", o.ClusterQueryNamespaces,
		"namespaces whose queries may read series of all namespaces")
	cmdline.AddTrustFlags(flags, &o.Trust)
}

// Validate returns every problem at once, each with what to write instead.
func (o *Options) Validate() error {
	o.KEDA.Signed = signed(o)
	problems := []error{o.Refresh.Validate(), o.Log.Validate(), o.validateHistory(), validateKEDA(&o.KEDA)}
	if o.Standalone {
		problems = append(problems, o.Local.Validate())
	} else {
		problems = append(problems, o.Cluster.Validate(), checkClusterFiles(&o.Cluster), o.Authority.validate())
		if err := ownService(o).Validate(); err != nil {
			problems = append(problems, fmt.Errorf("--service: %w", err))
		}
	}
	if o.Authority.File != "" && !o.Cluster.HasCertificateFiles() {
		problems = append(problems,
			errors.New("--tls-ca-file needs --tls-cert-file: set both, or leave out --tls-ca-file"))
	}
	if o.ServicePort < 1 || o.ServicePort > 65535 {
		problems = append(problems, fmt.Errorf("--service-port %d is not a port: write 1 to 65535", o.ServicePort))
	}
	if o.WarmPools.Step <= 0 {
		problems = append(problems, fmt.Errorf("--warm-pool-step %s: write a duration above 0", o.WarmPools.Step))
	}
	if o.Standalone && o.ConfigDir == "" {
		problems = append(problems, errors.New("--standalone reads no Forecasts from a cluster: set --config-dir"))
	}
	if flag := o.objectsFlag(); o.ConfigDir != "" && flag != "" {
		problems = append(problems,
			fmt.Errorf("%s reads objects of a cluster: remove it, or remove --config-dir", flag))
	}
	if (o.FleetSources.Nodes || o.FleetSources.ClusterQueues) && !o.Fleets {
		problems = append(problems,
			errors.New("--fleet-nodes and --fleet-cluster-queues need --fleets: add it, or remove them"))
	}
	if o.ConfigDir != "" {
		problems = append(problems, checkDir("--config-dir", o.ConfigDir))
	}
	return errors.Join(append(problems, o.validateQueries())...)
}

// objectsFlag returns a flag that reads further objects of a cluster; empty if there is none.
func (o *Options) objectsFlag() string {
	switch {
	case o.DemandEvents:
		return "--demand-events"
	case o.Fleets:
		return "--fleets"
	}
	return ""
}

// validateQueries checks what queries may read.
func (o *Options) validateQueries() error {
	problems := []error{o.Trust.Validate()}
	if o.Limits.Forecasts < 0 || o.Limits.Points < 0 {
		problems = append(
			problems,
			errors.New(
				"--max-forecasts-per-namespace and --max-points-per-namespace: write a number above 0, or 0 for no limit",
			),
		)
	}
	if !model.LegacyValidation.IsValidLabelName(o.TenantLabel) || o.TenantLabel == model.MetricNameLabel {
		problems = append(problems,
			fmt.Errorf("--tenant-label %.64q is not a label name: write for example namespace", o.TenantLabel))
	}
	if o.Trust.Cluster != "" && o.SourcesFile != "" {
		problems = append(problems,
			errors.New("--cluster does not apply to --sources-file: write cluster in the entries of that file"))
	}
	return errors.Join(problems...)
}

// ownService returns Forewarm's own service.
func ownService(o *Options) aggregation.Service {
	if o.Service == "" {
		return aggregation.Service(o.Lease.Namespace + "/forewarm")
	}
	return aggregation.Service(o.Service)
}

// holdConfig says which API groups the leader takes over.
func holdConfig(o *Options, by aggregation.Bundler) aggregation.HoldConfig {
	return aggregation.HoldConfig{
		Modes: o.Cluster.Modes(), Owner: o.Owner, Port: o.ServicePort, Grace: o.Authority.Grace, Authority: by,
	}
}

// validateHistory checks that exactly one of the three sources of history is configured.
func (o *Options) validateHistory() error {
	switch {
	case o.SourcesFile != "" && (o.Prometheus.URL != "" || o.ScrapeConfig != ""):
		return errors.New("--sources-file lists every source of history: list the Prometheus in it, too, " +
			"and remove --prometheus-url and --scrape-config")
	case o.SourcesFile != "":
		return cmdline.CheckFlagFiles(cmdline.MaxSettings,
			cmdline.FileFlag{Name: "--sources-file", Path: o.SourcesFile})
	case o.Prometheus.URL != "":
		problems := []error{o.Prometheus.Validate(), cmdline.CheckPrometheus(&o.Prometheus)}
		if o.ScrapeConfig != "" {
			problems = append(problems,
				errors.New("--scrape-config is for the embedded engine, which --prometheus-url replaces: keep one"))
		}
		return errors.Join(problems...)
	}
	return o.validateEngine()
}

// validateEngine checks the options of the embedded engine.
func (o *Options) validateEngine() error {
	var problems []error
	if o.ScrapeConfig == "" {
		problems = append(
			problems,
			errors.New(
				"no source of history: set --prometheus-url, --sources-file, or --scrape-config for the embedded engine",
			),
		)
	}
	if strings.Contains(o.DataDir, "://") {
		problems = append(problems, fmt.Errorf("--data-dir %.200q is a URL: write a folder on this machine", o.DataDir))
	}
	if o.RetentionSize < minRetentionSize {
		problems = append(problems,
			fmt.Errorf("--retention-size %s is too small: write at least %s", o.RetentionSize, minRetentionSize))
	}
	scrape := cmdline.FileFlag{Name: "--scrape-config", Path: o.ScrapeConfig}
	problems = append(problems, cmdline.CheckFlagFiles(cmdline.MaxSettings, scrape), engineConfig(o).Validate())
	return errors.Join(problems...)
}

// minRetentionSize is about the size of a small service's write-ahead log before the first compaction, after three hours.
const minRetentionSize = 64 * units.MiB

func checkDir(flag, path string) error {
	switch info, err := os.Stat(path); {
	case err != nil:
		return fmt.Errorf("%s: %w", flag, err)
	case !info.IsDir():
		return fmt.Errorf("%s %s is a file: write the folder that it is in", flag, path)
	}
	return nil
}
