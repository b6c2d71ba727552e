package main

import (
	"bytes"
	"fmt"
	"text/template"
)

// krew is the manifest by which krew installs kubectl's plugin, as a template.
const krew = `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: forewarm
spec:
  version: {{.Version}}
  homepage: https://github.com/forewarm/forewarm
  shortDescription: Inspect and check predictive autoscaling
  description: |
    Shows what Forewarm observes, forecasts and serves for each workload, explains what an HPA computes from it,
    says what is wrong with an installation, and simulates it on recorded demand.
  platforms:
{{- range .Archives}}
    - selector:
        matchLabels: {os: {{.System}}, arch: {{.Machine}}}
      uri: https://github.com/forewarm/forewarm/releases/download/{{$.Version}}/{{.File}}
      sha256: "{{.SHA256}}"
      bin: {{.Program}}
{{- end}}
`

// archive is a platform's.
type archive struct{ System, Machine, Program, File, SHA256 string }

func krewManifest(version string, archives []archive) ([]byte, error) {
	manifest, err := template.New("krew").Parse(krew)
	var text bytes.Buffer
	if err == nil {
		err = manifest.Execute(&text, map[string]any{"Version": version, "Archives": archives})
	}
	if err != nil {
		return nil, fmt.Errorf("krew's manifest: %w", err)
	}
	return text.Bytes(), nil
}
