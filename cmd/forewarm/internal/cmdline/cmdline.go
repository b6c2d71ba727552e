// Package cmdline has what commands share: flags and arguments for the workload, the cluster, the Prometheus and the log,
// files up to a size limit, exit codes, tables, the form of --json, and the progress of long work on stderr (a bar on a
// terminal, elsewhere an occasional line; libraries for progress bars draw by a clock of their own, and write no lines).
package cmdline

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	promconfig "github.com/prometheus/common/config"
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// AddTrustFlags adds the flags that say whose series presets count.
func AddTrustFlags(flags *pflag.FlagSet, trust *signal.Trust) {
	flags.StringSliceVar(
		&trust.Exporters,
		"exporter-namespaces",
		trust.Exporters,
		"namespaces of exporters that report on pods in other namespaces, such as dcgm-exporter or kube-state-metrics",
	)
	flags.StringVar((*string)(&trust.Cluster), "cluster", string(trust.Cluster),
		"if the store contains series of several clusters: label and `value` of this cluster's series, such as "+
			"cluster=eu-1")
	flags.DurationVar(
		&trust.ScrapeInterval,
		"scrape-interval",
		trust.ScrapeInterval,
		"longest scrape interval of your model servers; presets that compute rates look back over four of these "+
			"intervals, but at least 2m (0 means up to 30s)",
	)
}

// AddPrometheusFlags adds the flags of a connection to a Prometheus: credentials, certificates, headers and the lookback.
func AddPrometheusFlags(flags *pflag.FlagSet, p *prometheus.Config) {
	p.HTTP.EnableHTTP2, p.HTTP.ProxyFromEnvironment = true, true
	flags.StringVar(&p.HTTP.BearerTokenFile, "prometheus-token-file", p.HTTP.BearerTokenFile,
		"file with the bearer token for Prometheus")
	flags.Var(newHeaders(&p.HTTP), "prometheus-header", "header to send to Prometheus, NAME=VALUE; repeatable")
	flags.Var(&p.Auth, "prometheus-auth",
		"credentials for a managed Prometheus, as YAML: sigv4, azuread or google_iam, for example "+
			"'sigv4: {region: eu-central-1}' (docs/stores.md#managed-stores)")
	flags.StringVar(&p.HTTP.TLSConfig.CAFile, "prometheus-ca-file", p.HTTP.TLSConfig.CAFile,
		"file with the certificate authorities that verify Prometheus' certificate")
	flags.StringVar(&p.HTTP.TLSConfig.CertFile, "prometheus-cert-file", p.HTTP.TLSConfig.CertFile,
		"file with the client certificate for Prometheus")
	flags.StringVar(&p.HTTP.TLSConfig.KeyFile, "prometheus-key-file", p.HTTP.TLSConfig.KeyFile,
		"file with the key of the client certificate")
	flags.DurationVar(&p.Lookback, "prometheus-lookback", p.Lookback,
		"how long a sample stays valid if no newer sample follows; set it to two or three scrape intervals so that "+
			"short gaps are visible (0 means the server's default)")
}

// headers is the flag for headers. It is pflag's flag for NAME=VALUE, but keeps the values secret.
type headers struct {
	pflag.Value

	given map[string]string
	http  *promconfig.HTTPClientConfig
}

func newHeaders(http *promconfig.HTTPClientConfig) *headers {
	h := &headers{http: http}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringToStringVar(&h.given, "header", nil, "")
	h.Value = flags.Lookup("header").Value
	return h
}

// Set implements pflag.Value.
func (h *headers) Set(text string) error {
	if err := h.Value.Set(text); err != nil {
		return err //nolint:wrapcheck // The flag set names the flag.
	}
	all := make(map[string]promconfig.Header, len(h.given))
	for name, value := range h.given {
		all[name] = promconfig.Header{Secrets: []promconfig.Secret{promconfig.Secret(value)}}
	}
	h.http.HTTPHeaders = &promconfig.Headers{Headers: all}
	return nil
}

// CheckPrometheus reports the flags of the Prometheus whose files cannot be valid.
func CheckPrometheus(p *prometheus.Config) error {
	return CheckFlagFiles(MaxSecret, FileFlag{Name: "--prometheus-token-file", Path: p.HTTP.BearerTokenFile},
		FileFlag{Name: "--prometheus-auth", Path: p.Auth.File()},
		FileFlag{Name: "--prometheus-ca-file", Path: p.HTTP.TLSConfig.CAFile},
		FileFlag{Name: "--prometheus-cert-file", Path: p.HTTP.TLSConfig.CertFile},
		FileFlag{Name: "--prometheus-key-file", Path: p.HTTP.TLSConfig.KeyFile})
}

// targetKinds returns the kinds for which presets find the pods, with the names that kubectl accepts.
func targetKinds() map[string][]string {
	return map[string][]string{
		"Deployment":          {"deployment", "deployments", "deploy"},
		"StatefulSet":         {"statefulset", "statefulsets", "sts"},
		"ReplicaSet":          {"replicaset", "replicasets", "rs"},
		"DaemonSet":           {"daemonset", "daemonsets", "ds"},
		"Job":                 {"job", "jobs"},
		"LeaderWorkerSet":     {"leaderworkerset", "leaderworkersets", "lws"},
		"Rollout":             {"rollout", "rollouts", "ro"},
		"RayService":          {"rayservice", "rayservices"},
		"RayCluster":          {"raycluster", "rayclusters"},
		"InferenceService":    {"inferenceservice", "inferenceservices", "isvc"},
		"LLMInferenceService": {"llminferenceservice", "llminferenceservices", "llmisvc"},
		"Service":             {"ksvc", "kservice", "kservices"},
		"Revision":            {"revision", "revisions", "rev"},
	}
}

// ParseTarget parses the workload KIND/NAME. An unknown kind is accepted where it is written as in an object, with a
// capital: presets find the pods of any kind that owns them directly or through ReplicaSets.
func ParseTarget(text string) (signal.Target, error) {
	kind, name, ok := strings.Cut(text, "/")
	if !ok || kind == "" || name == "" || strings.Contains(name, "/") {
		return signal.Target{}, fmt.Errorf(
			"--target %.200q is not a workload: write KIND/NAME, for example deployment/llama", text,
		)
	}
	if unicode.IsUpper([]rune(kind)[0]) {
		return signal.Target{Kind: kind, Name: name}, nil
	}
	var known []string
	for canonical, aliases := range targetKinds() {
		if slices.Contains(aliases, strings.ToLower(kind)) {
			return signal.Target{Kind: canonical, Name: name}, nil
		}
		known = append(known, aliases[0])
	}
	slices.Sort(known)
	return signal.Target{}, fmt.Errorf(
		"--target %.200q: the kind %.100q is unknown: write one of %s, or any other kind "+
			"as its objects spell it, with a capital letter", text, kind, strings.Join(known, ", "),
	)
}
