package metricsapi

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/forewarm/forewarm/pkg/decide"
	"github.com/forewarm/forewarm/pkg/snapshot"
)

// The Forecast object as the custom metrics API names it.
const (
	group      = "forewarm.dev"
	resources  = "forecasts"
	kind       = "Forecast"
	apiVersion = group + "/v1alpha1"

	// MetricDemand is the one metric that describes a Forecast object.
	MetricDemand = "demand"
)

var _ provider.MetricsProvider = (*Provider)(nil)

// Provider answers both metrics APIs from the board. It is safe for concurrent use.
type Provider struct {
	board *snapshot.Board
	now   func() time.Time
}

// New reads from the board; now is the clock against which the age of data is judged.
func New(board *snapshot.Board, now func() time.Time) *Provider {
	return &Provider{board: board, now: now}
}

// reading is one Forecast's value in the form that both APIs serve.
type reading struct {
	value     resource.Quantity
	timestamp metav1.Time
	window    int64
}

// read is the value of one Forecast under a metric selector. Errors are those of the API.
func (p *Provider) read(key snapshot.Key, selector labels.Selector) (reading, error) {
	newest := p.board.Load()
	if newest == nil {
		return reading{}, noData()
	}
	entry := newest.Get(key)
	if entry == nil {
		return reading{}, apierrors.NewNotFound(forecasts(), key.Name)
	}
	selection, err := parse(selector)
	if err != nil {
		return reading{}, refuse(key, err)
	}
	return p.answer(entry, selection)
}

func (p *Provider) answer(entry *snapshot.Entry, selection decide.Selection) (reading, error) {
	answer, err := entry.Answer(selection, p.now())
	if err != nil {
		return reading{}, refuse(entry.Key, err)
	}
	value, err := quantity(answer.Value)
	if err != nil {
		return reading{}, refuse(entry.Key, err)
	}
	return reading{
		value:     value,
		timestamp: metav1.Time{Time: answer.Time},
		window:    int64(answer.Window / time.Second),
	}, nil
}

// refuse says to an HPA why its Forecast has no value: a selector that asks for what does not exist is the request's
// fault, all else is ours and may pass.
func refuse(key snapshot.Key, err error) error {
	message := fmt.Sprintf("forecast %s: %v", key, err)
	if errors.Is(err, decide.ErrSelection) {
		return apierrors.NewBadRequest(message)
	}
	return apierrors.NewServiceUnavailable(message)
}

func noData() error {
	return apierrors.NewServiceUnavailable("forewarm has no data yet: its first refresh is under way")
}

func forecasts() schema.GroupResource { return schema.GroupResource{Group: group, Resource: resources} }
