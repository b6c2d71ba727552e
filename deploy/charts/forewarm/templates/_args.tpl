{{- /* The flags of `forewarm serve`. What equals the program's default is left out. */}}
{{- define "forewarm.args" -}}
{{- $v := .Values }}
{{- $name := include "forewarm.fullname" . }}
- serve
{{- with $v.prometheus.url }}
# Prometheus, or a server with its HTTP API: Thanos, Mimir, VictoriaMetrics.
- {{ printf "--prometheus-url=%s" . | quote }}
{{- end }}
{{- if $v.sources.list }}
# Sources of history by namespace: docs/sources.md.
- --sources-file=/etc/forewarm/sources/sources.yaml
{{- end }}
{{- if $v.sources.podIdentity }}
- --sources-pod-identity
{{- end }}
{{- with $v.prometheus.auth }}
# The credentials for a managed Prometheus: docs/stores.md. Secrets are in files.
- {{ printf "--prometheus-auth=%s" (toJson .) | quote }}
{{- end }}
{{- with $v.prometheus.secret }}
{{- range $flag, $key := dict "ca" .caKey "token" .tokenKey "cert" .certKey "key" .keyKey }}
{{- if $key }}
- --prometheus-{{ $flag }}-file=/etc/forewarm/prometheus/{{ $key }}
{{- end }}
{{- end }}
{{- end }}
{{- with $v.prometheus.cluster }}
- {{ printf "--cluster=%s" . | quote }}
{{- end }}
{{- with $v.prometheus.scrapeInterval }}
- {{ printf "--scrape-interval=%s" . | quote }}
{{- end }}
{{- $exporters := $v.exporterNamespaces }}
{{- if and $v.agent.enabled (not (has $v.agent.namespace $exporters)) }}
{{- $exporters = append $exporters $v.agent.namespace }}
{{- end }}
{{- if ne (join "," $exporters) "forewarm-agent,gpu-operator,kube-system,monitoring,prometheus" }}
- {{ printf "--exporter-namespaces=%s" (join "," $exporters) | quote }}
{{- end }}
- --secure-port={{ $v.securePort }}
{{- if ne .Release.Namespace "forewarm-system" }}
- --lease-namespace={{ .Release.Namespace }}
{{- end }}
{{- if ne $name "forewarm" }}
- --lease-name={{ $name }}
- --service={{ .Release.Namespace }}/{{ $name }}
- --api-service-owner={{ $name }}:server
{{- if eq $v.tls.mode "own" }}
- --tls-ca-secret={{ $name }}-ca
{{- end }}
{{- end }}
{{- range $flag, $value := dict "external-metrics" $v.apiGroups.externalMetrics "custom-metrics" $v.apiGroups.customMetrics "inspect" $v.apiGroups.inspect }}
{{- if ne (toString $value) "auto" }}
- --serve-{{ $flag }}={{ $value }}
{{- end }}
{{- end }}
{{- if ne $v.tls.mode "own" }}
- --tls-cert-file=/etc/forewarm/tls/tls.crt
- --tls-private-key-file=/etc/forewarm/tls/tls.key
# What the leader writes into the APIServices, so that the kube-apiserver verifies the certificate.
- --tls-ca-file=/etc/forewarm/tls/ca.crt
{{- end }}
{{- if $v.demandEvents.enabled }}
- --demand-events
{{- end }}
{{- if $v.fleets.enabled }}
- --fleets
{{- if $v.fleets.nodes }}
- --fleet-nodes
{{- end }}
{{- if $v.fleets.clusterQueues }}
- --fleet-cluster-queues
{{- end }}
{{- end }}
{{- if $v.keda.enabled }}
- --keda-address=:9090
{{- $client := printf "%s/%s-client" $v.keda.namespace $name }}
{{- if and (include "forewarm.signsForKEDA" .) (ne $client "keda/forewarm-client") }}
- --keda-client-secret={{ $client }}
{{- end }}
{{- end }}
{{- if ne $v.log.level "info" }}
- --log-level={{ $v.log.level }}
{{- end }}
{{- if ne $v.log.format "text" }}
- --log-format={{ $v.log.format }}
{{- end }}
{{- with $v.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end }}
