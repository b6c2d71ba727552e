package past

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

// Forecast is an object of a cluster, and what the cluster knows of its workload.
type Forecast struct {
	Key    snapshot.Key
	Object *v1alpha1.Forecast
	State  manifest.ClusterState
}

// ReadForecast reads a Forecast of a cluster.
func ReadForecast(ctx context.Context, config *rest.Config, namespace, name string) (*v1alpha1.Forecast, error) {
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	object, err := objects.Resource(v1alpha1.GroupVersion().WithResource("forecasts")).
		Namespace(namespace).
		Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	forecast := &v1alpha1.Forecast{}
	return forecast, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, forecast)
}

// FromCluster reads a Forecast, its measured lead time and its autoscalers, with the user's own rights.
func FromCluster(ctx context.Context, config *rest.Config, namespace, name string) (Forecast, error) {
	f := Forecast{Key: snapshot.Key{Namespace: namespace, Name: name}}
	var err error
	if f.Object, err = ReadForecast(ctx, config, namespace, name); err != nil {
		return f, fmt.Errorf("read Forecast %s/%s: %w", namespace, name, err)
	}
	f.Object.Spec.Signal.Source = "" // It is in the Prometheus that the user names.
	f.State = manifest.NoCluster()
	f.State.LeadTime.Source = "nothing is measured yet"
	if starts := f.Object.Status.Starts; starts != nil && manifest.IsWorkload(f.Object, starts.Workload) {
		seconds := func(n int64) time.Duration { return time.Duration(n) * time.Second }
		f.State.LeadTime = manifest.MeasuredLeadTime{
			Lead: seconds(
				starts.LeadTime.Seconds,
			),
			Median: seconds(starts.LeadTime.MedianSeconds),
			Source: "measured until now",
		}
	}
	err = f.readAutoscalers(ctx, config)
	return f, err
}

// readAutoscalers adds those that name the Forecast. Without KEDA there are no ScaledObjects.
func (f *Forecast) readAutoscalers(ctx context.Context, config *rest.Config) error {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	f.State.UnreadReason = ""
	var found []autoscaler.Reference
	hpas, err := clients.AutoscalingV2().HorizontalPodAutoscalers(f.Key.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		f.State.UnreadReason = "HPAs could not be read: " + err.Error()
	} else {
		for i := range hpas.Items {
			found = append(found, autoscaler.FromHPA(&hpas.Items[i])...)
		}
	}
	keda := schema.GroupVersionResource{Group: "keda.sh", Version: "v1alpha1", Resource: "scaledobjects"}
	if all, err := objects.Resource(keda).Namespace(f.Key.Namespace).List(ctx, metav1.ListOptions{}); err == nil {
		for i := range all.Items {
			found = append(found, autoscaler.FromScaledObject(&all.Items[i])...)
		}
	}
	for i := range found {
		if found[i].Forecast == f.Key {
			f.State.Autoscalers = append(f.State.Autoscalers, found[i])
		}
	}
	return nil
}
