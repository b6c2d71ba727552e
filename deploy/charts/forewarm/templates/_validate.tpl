{{- /* Values that contradict each other, or that are missing: each sentence says what to do. */}}
{{- define "forewarm.validate" -}}
{{- $v := .Values }}
{{- $engine := include "forewarm.hasFlag" (dict "root" . "flag" "--scrape-config") }}
{{- $given := include "forewarm.hasFlag" (dict "root" . "flag" "--prometheus-url") }}
{{- $kedaFiles := include "forewarm.hasFlag" (dict "root" . "flag" "--keda-tls-cert-file") }}
{{- if not $v.image.repository }}
{{- fail "image.repository is empty, and no image is published yet: push one with `make push IMAGE=REGISTRY/forewarm:TAG`, and set image.repository=REGISTRY/forewarm and image.tag=TAG" }}
{{- end }}
{{- if and $v.sources.list (or $v.prometheus.url $engine $given) }}
{{- fail "if sources.list is set, it must contain every source of history: add the Prometheus to the list, and remove prometheus.url, --prometheus-url and --scrape-config" }}
{{- end }}
{{- if and $v.sources.secrets (not $v.sources.list) }}
{{- fail "sources.secrets are files for sources.list, which is empty: set sources.list, or remove sources.secrets" }}
{{- end }}
{{- if not (or $v.prometheus.url $v.sources.list $engine $given) }}
{{- fail "prometheus.url is empty, so there is no history to forecast from: set it, for example to http://prometheus-operated.monitoring.svc:9090, or sources.list" }}
{{- end }}
{{- if and $v.prometheus.url $engine }}
{{- fail "prometheus.url replaces the embedded engine of --scrape-config: keep one" }}
{{- end }}
{{- if and $engine (gt (int $v.replicas) 1) }}
{{- fail "the embedded engine of --scrape-config supports only one adapter replica: set replicas=1 and podDisruptionBudget.enabled=false, or use a Prometheus" }}
{{- end }}
{{- if and $v.prometheus.auth (or $v.sources.list $engine) }}
{{- fail "prometheus.auth is for the store in prometheus.url: write the credentials into the entries of sources.list, or remove prometheus.auth" }}
{{- end }}
{{- if and $v.prometheus.auth $v.prometheus.secret.tokenKey }}
{{- fail "prometheus.auth replaces the bearer token: remove prometheus.secret.tokenKey" }}
{{- end }}
{{- if and $v.sources.podIdentity (not $v.sources.list) }}
{{- fail "sources.podIdentity is for sources.list, which is empty: set sources.list, or remove sources.podIdentity" }}
{{- end }}
{{- if and (or $v.fleets.nodes $v.fleets.clusterQueues) (not $v.fleets.enabled) }}
{{- fail "fleets.nodes and fleets.clusterQueues are for GPUFleets, which are not enabled: set fleets.enabled" }}
{{- end }}
{{- with $v.prometheus.secret }}
{{- $keys := or .caKey .tokenKey .certKey .keyKey }}
{{- if and $keys (not .name) }}
{{- fail "prometheus.secret contains keys, but not the name of a Secret: set prometheus.secret.name" }}
{{- end }}
{{- if and .name (not $keys) (not $v.prometheus.auth) }}
{{- fail "prometheus.secret.name is set, but no key of that Secret is: set prometheus.secret.caKey, tokenKey, or certKey and keyKey" }}
{{- end }}
{{- if ne (empty .certKey) (empty .keyKey) }}
{{- fail "a client certificate needs its private key: set both prometheus.secret.certKey and prometheus.secret.keyKey" }}
{{- end }}
{{- end }}
{{- if and (eq $v.tls.mode "existingSecret") (not $v.tls.existingSecret) }}
{{- fail "tls.mode is existingSecret: set tls.existingSecret to a Secret with tls.crt, tls.key and ca.crt" }}
{{- end }}
{{- if and $v.tls.existingSecret (ne $v.tls.mode "existingSecret") }}
{{- fail (printf "tls.existingSecret is set, but tls.mode is %s: set tls.mode=existingSecret, or remove tls.existingSecret" $v.tls.mode) }}
{{- end }}
{{- if and $v.tls.certManager.issuerRef (ne $v.tls.mode "certManager") }}
{{- fail (printf "tls.certManager.issuerRef is set, but tls.mode is %s: set tls.mode=certManager, or remove the issuer" $v.tls.mode) }}
{{- end }}
{{- if and $v.keda.enabled (ne $v.tls.mode "own") (not $kedaFiles) }}
{{- fail (printf "keda.enabled with tls.mode=%s: Forewarm then has no authority that signs KEDA's certificate; set tls.mode=own, or extraArgs with --keda-tls-cert-file, --keda-tls-private-key-file and --keda-client-ca-file" $v.tls.mode) }}
{{- end }}
{{- if and $v.podDisruptionBudget.enabled (lt (int $v.replicas) 2) }}
{{- fail (printf "podDisruptionBudget.enabled with replicas=%d would block the drain of a node: set replicas=2, or podDisruptionBudget.enabled=false" (int $v.replicas)) }}
{{- end }}
{{- if and $v.agent.enabled (not $v.agent.image.repository) }}
{{- fail "agent.image.repository is empty, and no image is published yet: build deploy/agent/Dockerfile, push it, and set agent.image.repository and agent.image.tag" }}
{{- end }}
{{- if and $v.agent.enabled (eq $v.agent.namespace .Release.Namespace) $v.namespace.create }}
{{- fail "agent.namespace is the adapter's namespace, whose pod security level (namespace.create) forbids the agent: use another agent.namespace" }}
{{- end }}
{{- if and $v.agent.enabled $v.agent.createNamespace (eq $v.agent.namespace .Release.Namespace) }}
{{- fail "agent.namespace is the release's namespace, which exists: set agent.createNamespace=false" }}
{{- end }}
{{- if and $v.podMonitor.enabled (not $v.agent.enabled) }}
{{- fail "podMonitor.enabled is for the node agent: set agent.enabled, or use serviceMonitor.enabled for the adapter" }}
{{- end }}
{{- if and $v.networkPolicy.enabled $v.agent.enabled (not $v.networkPolicy.agentFrom) }}
{{- fail "networkPolicy.agentFrom is empty, so no client could scrape the node agent: set it to your Prometheus, for example [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]" }}
{{- end }}
{{- end }}
