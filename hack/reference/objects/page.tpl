{{- /* The page docs/reference/objects.md. Types of the inspection API are named Outlook.X: both APIs have a LeadTime. */ -}}
{{- define "gvList" -}}
<!-- Written by hack/generate.sh from the types in pkg/api. Do not edit. -->

# Objects

`kubectl explain forecasts.spec --recursive` shows the same fields in a cluster. The CustomResourceDefinitions in
[the chart](../../deploy/charts/forewarm/files/crds) contain the exact limits of each field. Fields that are not marked as required are optional.

| object | API | |
|---|---|---|
{{ range . -}}{{ $gv := . }}{{ range .SortedKinds -}}{{ $type := $gv.TypeForKind . -}}
| {{ template "link" $type }} | `{{ $gv.GroupVersionString }}` | {{ template "sentence" $type.Doc }} |
{{ end }}{{ end }}
{{- range . }}{{ template "gvDetails" . }}{{ end }}
{{- end -}}

{{- define "gvDetails" }}
## {{ .GroupVersionString }}
{{ $gv := . }}
{{- range .SortedKinds }}{{ template "type" ($gv.TypeForKind .) }}{{ end }}
{{- range .SortedTypes }}{{ if and (not .GVK) (markdownShouldRenderType .) }}{{ template "type" . }}{{ end }}{{ end }}
{{- end -}}

{{- define "type" }}
### {{ template "name" . }}

{{ .Doc }}
{{ if and .IsAlias (not .EnumValues) }}
Its type is {{ markdownRenderType .UnderlyingType }}.
{{ end -}}
{{ if .SortedReferences }}
Used by {{ range $i, $type := .SortedReferences }}{{ if $i }}, {{ end }}{{ template "link" $type }}{{ end }}.
{{ end -}}
{{ if .Members }}
| field | type | |
|---|---|---|
{{ range .Members -}}
| `{{ .Name }}` | {{ template "typeOf" .Type }} | {{ if eq .Name "metadata" -}}
Name, namespace, labels and so on, as in every Kubernetes object.
{{- else -}}
{{ if not (or (has "Optional: {}" .Validation) (eq .Name "spec" "status" "items")) }}**Required.** {{ end -}}
{{ template "sentence" .Doc }}{{ end }} |
{{ end }}{{ end -}}
{{ if .EnumValues }}
| value | |
|---|---|
{{ range .EnumValues -}}
| `{{ .Name }}` | {{ template "sentence" .Doc }} |
{{ end }}{{ end }}
{{- end -}}

{{- define "name" -}}
{{ if and (hasSuffix "/inspect/v1alpha1" .Package) (not .GVK) }}Outlook.{{ end }}{{ .Name }}
{{- end -}}

{{- define "link" -}}
{{ if hasSuffix "/inspect/v1alpha1" .Package -}}
[{{ .Name }}](#{{ if not .GVK }}outlook{{ end }}{{ lower .Name }})
{{- else }}{{ markdownRenderTypeLink . }}{{ end }}
{{- end -}}

{{- define "typeOf" -}}
{{ if eq .Kind 3 -}}
map of {{ template "typeOf" .KeyType }} to {{ template "typeOf" .ValueType }}
{{- else if eq .Kind 5 }}list of {{ template "typeOf" .UnderlyingType }}
{{- else if eq .Kind 4 }}{{ template "typeOf" .UnderlyingType }}
{{- else }}{{ template "link" . }}{{ end }}
{{- end -}}

{{- /* A doc comment in a cell of a table. */ -}}
{{- define "sentence" }}{{ . | replace "\n" " " | replace "|" "\\|" }}{{ end -}}
