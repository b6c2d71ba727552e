{{- define "forewarm.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains .Chart.Name .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "forewarm.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "forewarm.fullname" .) }}
{{- end }}

{{- /* By one label, the fullname: a selector cannot change, and manifests before the chart had this one. */}}
{{- define "forewarm.selector" -}}
app.kubernetes.io/name: {{ include "forewarm.fullname" . }}
{{- end }}

{{- define "forewarm.agentSelector" -}}
app.kubernetes.io/name: {{ include "forewarm.fullname" . }}-agent
{{- end }}

{{- define "forewarm.commonLabels" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/part-of: forewarm
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "forewarm.labels" -}}
{{ include "forewarm.selector" . }}
{{ include "forewarm.commonLabels" . }}
{{- end }}

{{- define "forewarm.agentLabels" -}}
{{ include "forewarm.agentSelector" . }}
{{ include "forewarm.commonLabels" . }}
{{- end }}

{{- /* The one who is bound: Forewarm's account. */}}
{{- define "forewarm.subjects" -}}
subjects:
  - kind: ServiceAccount
    name: {{ include "forewarm.serviceAccount" . }}
    namespace: {{ .Release.Namespace }}
{{- end }}

{{- /* Not empty if another adapter serves external.metrics.k8s.io: the values say so, or the cluster does. `helm template` has none. */}}
{{- define "forewarm.externalMetricsElsewhere" -}}
{{- $mode := toString .Values.apiGroups.externalMetrics }}
{{- if eq $mode "false" }}true{{ end }}
{{- if eq $mode "auto" }}
{{- $group := lookup "apiregistration.k8s.io/v1" "APIService" "" "v1beta1.external.metrics.k8s.io" }}
{{- with ($group.spec).service }}
{{- if or (ne .name (include "forewarm.fullname" $)) (ne .namespace $.Release.Namespace) }}true{{ end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* An image from (dict "image" values "version" appVersion). */}}
{{- define "forewarm.image" -}}
{{- if .image.digest }}
{{- printf "%s@%s" .image.repository .image.digest }}
{{- else }}
{{- printf "%s:%s" .image.repository (.image.tag | default .version) }}
{{- end }}
{{- end }}

{{- /* Not empty if extraArgs has a flag: (dict "root" . "flag" "--name"). */}}
{{- define "forewarm.hasFlag" -}}
{{- $flag := .flag }}
{{- range .root.Values.extraArgs }}
{{- if or (eq . $flag) (hasPrefix (printf "%s=" $flag) .) }}true{{ end }}
{{- end }}
{{- end }}

{{- /* Not empty if Forewarm's own authority signs KEDA's client certificate. */}}
{{- define "forewarm.signsForKEDA" -}}
{{- if and .Values.keda.enabled (not (include "forewarm.hasFlag" (dict "root" . "flag" "--keda-tls-cert-file"))) }}true{{ end }}
{{- end }}

{{- /* The Secret with the serving certificate, where it is given by files. */}}
{{- define "forewarm.tlsSecret" -}}
{{- if eq .Values.tls.mode "certManager" }}{{ include "forewarm.fullname" . }}-tls{{ end }}
{{- if eq .Values.tls.mode "existingSecret" }}{{ .Values.tls.existingSecret }}{{ end }}
{{- end }}
