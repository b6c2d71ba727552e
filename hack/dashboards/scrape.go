package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/hack/dashboardtest"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

const scrapeInterval = 5 * time.Second

// scrape stores a page for a time, with what only a cluster has.
func scrape(ctx context.Context, to *dashboardtest.Store, page string, span time.Duration) (end time.Time, err error) {
	clock := &dashboardtest.Clock{}
	clock.Set(time.Now())
	collectors, err := dashboardtest.NewCluster(ctx, clock)
	if err != nil {
		return end, err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors...)
	begun := time.Now()
	for time.Since(begun) < span+time.Minute {
		families, err := get(ctx, page)
		if err != nil {
			return end, err
		}
		cluster, err := registry.Gather()
		if err != nil {
			return end, err
		}
		end = time.Now()
		if err := appendFamilies(ctx, to, end, append(families, cluster...)); err != nil {
			return end, err
		}
		select {
		case <-ctx.Done():
			return end, ctx.Err()
		case <-time.After(scrapeInterval):
		}
	}
	return end, nil
}

func get(ctx context.Context, page string) (out []*dto.MetricFamily, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, page, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(io.Reader(response.Body))
	for _, family := range families {
		out = append(out, family)
	}
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s has no metrics", page)
	}
	return out, err
}

func appendFamilies(ctx context.Context, store *dashboardtest.Store, at time.Time, families []*dto.MetricFamily) error {
	samples, err := dashboardtest.Samples(families)
	if err != nil {
		return err
	}
	return store.Append(ctx, at, dashboardtest.Target{
		"job": "forewarm", "namespace": "forewarm-system", "pod": "forewarm-0", "instance": "10.0.0.7:6443",
	}, samples)
}

func readForecasts(text string) ([]*v1alpha1.Forecast, error) {
	var out []*v1alpha1.Forecast
	err := yaml.UnmarshalStrict([]byte(text), &out)
	return out, err
}
