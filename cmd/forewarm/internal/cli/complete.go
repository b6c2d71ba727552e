package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	inspect "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/signal"
)

// completionTimeout limits how long a shell waits for completions.
const completionTimeout = 2 * time.Second

// completions lists the words that are possible at a place in a command line. If there are none, or after an error, the shell offers none.
type completions func(ctx context.Context, cmd *cobra.Command, begun string) []string

// addCompletions adds completions for shells: the names of objects in the cluster that the flags specify, presets, and output formats.
func addCompletions(root *cobra.Command) {
	forecasts := v1alpha1.GroupVersion().WithResource("forecasts")
	flags := map[string]completions{
		"namespace":    objects(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, true),
		"forecast":     objects(forecasts, true),
		"lead-time-of": objects(forecasts, true),
		"preset":       presetNames,
		"render":       presetNames,
		"output": func(_ context.Context, cmd *cobra.Command, _ string) []string {
			return cmd.Flag("output").Value.(*cmdline.Output).Forms() //nolint:errcheck,forcetypeassert // It is of no other type.
		},
	}
	arguments := map[string]completions{
		"inspect": objects(inspect.GroupVersion().WithResource(inspect.Resource), false),
		"fleet":   objects(inspect.GroupVersion().WithResource(inspect.FleetResource), false),
		"explain": objects(autoscaler.HPAs(), false),
		"pause":   objects(forecasts, false),
		"resume":  objects(forecasts, false),
		"presets": presetNames,
	}
	for _, cmd := range root.Commands() {
		for name, list := range flags {
			if cmd.Flag(name) != nil {
				_ = cmd.RegisterFlagCompletionFunc(name, bounded(list)) //nolint:errcheck // The flag exists, and once.
			}
		}
		if list := arguments[cmd.Name()]; list != nil {
			cmd.ValidArgsFunction = bounded(list)
		}
	}
}

// bounded lists words for at most completionTimeout. An exec plugin of a kubeconfig has no timeout of its own.
func bounded(list completions) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		found := make(chan []string, 1)
		go func() { found <- list(ctx, cmd, begun) }()
		var all []string
		select {
		case all = <-found:
		case <-ctx.Done():
		}
		all = slices.DeleteFunc(all, func(word string) bool { return !strings.HasPrefix(word, begun) })
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// presetNames returns the names of the servers and the presets.
func presetNames(context.Context, *cobra.Command, string) []string {
	var all []string
	for _, s := range signal.Sources() {
		all = append(all, s.Name)
		for _, p := range s.Presets {
			all = append(all, p.Name)
		}
	}
	return all
}

// value returns the value of a flag; empty if the command does not have the flag.
func value(cmd *cobra.Command, flag string) string {
	if f := cmd.Flag(flag); f != nil {
		return f.Value.String()
	}
	return ""
}

// connect creates a client of the server or the cluster that the flags specify, and returns the namespace of the kubeconfig's context.
func connect(ctx context.Context, cmd *cobra.Command) (client dynamic.Interface, namespace string, err error) {
	cluster := cmdline.Cluster{
		Timeout:    completionTimeout,
		Kubeconfig: value(cmd, "kubeconfig"),
		Context:    value(cmd, "context"),
	}
	server := value(cmd, "server")
	if server == "" {
		return cluster.Client(ctx, "completion")
	}
	client, err = dynamic.NewForConfig(&rest.Config{Host: server, Timeout: completionTimeout})
	return client, "", err
}

// objects completes the names of objects that the user may list. It uses NAMESPACE/NAME if the command line does not specify a namespace,
// or if the word begins so.
func objects(of schema.GroupVersionResource, everywhere bool) completions {
	return func(ctx context.Context, cmd *cobra.Command, begun string) (all []string) {
		client, namespace, err := connect(ctx, cmd)
		if err != nil {
			return nil
		}
		before, _, slash := strings.Cut(begun, "/")
		switch given := value(cmd, "namespace"); {
		case slash:
			namespace = before
		case everywhere:
			namespace = ""
		case given != "":
			namespace = given
		}
		list, err := client.Resource(of).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: 500})
		if err != nil {
			return nil
		}
		for i := range list.Items {
			name, in := list.Items[i].GetName(), list.Items[i].GetNamespace()
			switch {
			case slash:
				name = before + "/" + name
			case namespace == "" && in != "":
				name = in + "/" + name
			}
			all = append(all, name)
		}
		return all
	}
}
