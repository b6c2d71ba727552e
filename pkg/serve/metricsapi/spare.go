package metricsapi

import (
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

const (
	// metricSpare is the metric of a GPUFleet object.
	metricSpare = "spare"
	// batchLabel selects the consumer.
	batchLabel = "batch"
)

// fleets is the resource of GPUFleet objects in the custom metrics API.
func fleets() schema.GroupResource {
	return v1alpha1.GroupVersion().WithResource("gpufleets").GroupResource()
}

// fleetOf returns the fleet that an External metric names; nil if it names none.
func (p *Provider) fleetOf(metric snapshot.Key) *fleet.State {
	name, ok := strings.CutSuffix(metric.Name, fleet.MetricSuffix)
	if !ok {
		return nil
	}
	return p.fleets.Get(snapshot.Key{Namespace: metric.Namespace, Name: name})
}

// spare returns how many replicas of the consumer that the selector names may run. Its errors are API statuses.
func (p *Provider) spare(state *fleet.State, selector labels.Selector) (servedMetric, error) {
	asked, err := selectorPairs(selector)
	for key := range asked {
		if key != batchLabel {
			err = fmt.Errorf("the selector has the label %.64q: write only %s, the name of a consumer", key, batchLabel)
		}
	}
	if err != nil {
		return servedMetric{}, apierrors.NewBadRequest(fmt.Sprintf("fleet %s: %v", state.Key, err))
	}
	s, err := state.Spare(asked[batchLabel], p.now())
	switch {
	case errors.Is(err, fleet.ErrConsumer):
		return servedMetric{}, apierrors.NewBadRequest(
			fmt.Sprintf("fleet %s: %v (matchLabels: {%s: NAME})", state.Key, err, batchLabel))
	case err != nil:
		return servedMetric{}, apierrors.NewServiceUnavailable(fmt.Sprintf("fleet %s: %v", state.Key, err))
	}
	return servedMetric{
		value:     *resource.NewQuantity(int64(s.Replicas), resource.DecimalSI),
		timestamp: metav1.Time{Time: state.Plan.At},
		window:    int64(s.Run / time.Second),
		labels:    asked,
	}, nil
}
