package cmdline

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/forewarm/forewarm/pkg/signal"
)

// targetKinds are those whose pods presets find, with the names that kubectl accepts.
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
			"as in its object, with a capital", text, kind, strings.Join(known, ", "),
	)
}
