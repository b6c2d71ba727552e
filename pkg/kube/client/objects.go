// Package client reads a cluster with the permissions of the user: its objects, page by page, and Forewarm's inspection API. The only
// thing that it changes is the annotation that pauses a Forecast.
package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/printable"
)

// MaxMessage is the maximum length of a message of another program that Forewarm repeats, in bytes.
const MaxMessage = 600

// APIMessage is the server's message of an error.
func APIMessage(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Message != "" {
		return printable.Clip(status.Status().Message, MaxMessage)
	}
	return printable.Clip(err.Error(), MaxMessage)
}

// pageSize is the number of objects on a page of a list.
const pageSize = 500

// ListAll lists the objects of a kind, page by page.
func ListAll(ctx context.Context, of dynamic.ResourceInterface) ([]unstructured.Unstructured, error) {
	out := []unstructured.Unstructured{}
	options := metav1.ListOptions{Limit: pageSize}
	for {
		page, err := of.List(ctx, options)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Items...)
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return out, nil
		}
	}
}

// ForecastInCluster is a Forecast of a cluster, with what the cluster knows about its workload.
type ForecastInCluster struct {
	Key    snapshot.Key
	Object *v1alpha1.Forecast
	State  manifest.ClusterState
}

// ReadForecast reads a Forecast of a cluster.
func ReadForecast(ctx context.Context, config *rest.Config, namespace, name string) (*v1alpha1.Forecast, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	object, err := client.Resource(v1alpha1.GroupVersion().WithResource("forecasts")).Namespace(namespace).
		Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	forecast := &v1alpha1.Forecast{}
	return forecast, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, forecast)
}

// ListForecasts lists the Forecasts of a namespace, without those that cannot be read.
func ListForecasts(ctx context.Context, client dynamic.Interface, namespace string) ([]v1alpha1.Forecast, error) {
	stored, err := ListAll(ctx,
		client.Resource(v1alpha1.GroupVersion().WithResource("forecasts")).Namespace(namespace))
	all := make([]v1alpha1.Forecast, 0, len(stored))
	for i := range stored {
		var f v1alpha1.Forecast
		if manifest.CheckQuantities(stored[i].Object) == nil &&
			runtime.DefaultUnstructuredConverter.FromUnstructured(stored[i].Object, &f) == nil {
			all = append(all, f)
		}
	}
	return all, err
}

// ReadWithCluster reads a Forecast, its measured lead time and its autoscalers, with the user's own rights.
func ReadWithCluster(ctx context.Context, config *rest.Config, namespace, name string) (ForecastInCluster, error) {
	f := ForecastInCluster{Key: snapshot.Key{Namespace: namespace, Name: name}}
	client, err := dynamic.NewForConfig(config)
	if err == nil {
		f.Object, err = ReadForecast(ctx, config, namespace, name)
	}
	if err != nil {
		return f, fmt.Errorf("read Forecast %s/%s: %w", namespace, name, err)
	}
	f.Object.Spec.Signal.Source = "" // The Prometheus that the user specifies contains the signal.
	f.State = manifest.NoCluster()
	f.State.LeadTime.Source = "no starts are measured yet"
	if starts := f.Object.Status.Starts; starts != nil && manifest.IsWorkload(f.Object, starts.Workload) {
		f.State.LeadTime = manifest.MeasuredLeadTime{
			Lead:   time.Duration(starts.LeadTime.Seconds) * time.Second,
			Median: time.Duration(starts.LeadTime.MedianSeconds) * time.Second,
			Source: "measured so far",
		}
	}
	f.State.UnreadReason = ""
	if err = f.readAutoscalers(ctx, client); err != nil {
		f.State.UnreadReason = "cannot read autoscalers: " + err.Error()
	}
	return f, nil
}

// alias returns the alias that the Forecast has in the cluster, or the zero value if it has none.
func (f *ForecastInCluster) alias(ctx context.Context, client dynamic.Interface) (snapshot.Key, error) {
	if f.Object.Spec.Expose == nil {
		return snapshot.Key{}, nil
	}
	all, err := ListForecasts(ctx, client, f.Key.Namespace)
	for at, holder := range autoscaler.AliasHolders(all) {
		if holder == f.Key {
			return at, err
		}
	}
	return snapshot.Key{}, err
}

// readAutoscalers adds the autoscalers that refer to the Forecast, or to its alias if no other Forecast has that alias. A cluster without
// KEDA has no ScaledObjects.
func (f *ForecastInCluster) readAutoscalers(ctx context.Context, client dynamic.Interface) error {
	alias, err := f.alias(ctx, client)
	if err != nil {
		return err
	}
	hpas, err := ListAll(ctx, client.Resource(autoscaler.HPAs()).Namespace(f.Key.Namespace))
	var found []manifest.Reference
	for i := range hpas {
		if a, unread := autoscaler.FromObject(&hpas[i]); unread == nil {
			found = append(found, autoscaler.References(a)...)
		}
	}
	scaled, failed := ListAll(ctx, client.Resource(autoscaler.ScaledObjects()).Namespace(f.Key.Namespace))
	for i := 0; failed == nil && i < len(scaled); i++ {
		if a, unread := autoscaler.FromObject(&scaled[i]); unread == nil {
			found = append(found, autoscaler.References(a)...)
		}
	}
	for i := range found {
		if named, ok := found[i].As(f.Key); ok {
			f.State.Autoscalers = append(f.State.Autoscalers, named)
		}
		if named, ok := found[i].As(alias); ok {
			f.State.Exposed = append(f.State.Exposed, named)
		}
	}
	return err
}
