package cmdline

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/forewarm/forewarm/pkg/signal"
)

// kinds are those whose pods presets find, by the names that kubectl takes.
func kinds() map[string][]string {
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

// Target reads the workload KIND/NAME. A kind that is not among the known ones is taken as it is where it is written as in an
// object, with a capital: the pods of any kind can be found that owns them directly or through ReplicaSets.
func Target(text string) (signal.Target, error) {
	kind, name, ok := strings.Cut(text, "/")
	if !ok || kind == "" || name == "" || strings.Contains(name, "/") {
		return signal.Target{}, fmt.Errorf(
			"--target %.200q is no workload, write KIND/NAME: for example deployment/llama",
			text,
		)
	}
	if unicode.IsUpper([]rune(kind)[0]) {
		return signal.Target{Kind: kind, Name: name}, nil
	}
	var known []string
	for canonical, aliases := range kinds() {
		if slices.Contains(aliases, strings.ToLower(kind)) {
			return signal.Target{Kind: canonical, Name: name}, nil
		}
		known = append(known, aliases[0])
	}
	slices.Sort(known)
	return signal.Target{}, fmt.Errorf("--target %.200q: kind %.100q is not known: write one of %s, or any other "+
		"as in its object, with a capital", text, kind, strings.Join(known, ", "))
}
