// Package traces shows a refresh of a Forecast as a span of OpenTelemetry, and in it each query of its source.
package traces

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	"go.opentelemetry.io/otel/trace"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/tracing"
	tracingapi "k8s.io/component-base/tracing/api/v1"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// Traces are spans of OpenTelemetry. Without a configuration there are none.
type Traces struct {
	provider tracing.TracerProvider
	tracer   trace.Tracer
}

// Open reads a configuration, in the format of the kube-apiserver's flag --tracing-config-file; without a file there are no spans. The
// instance is the name of this replica.
func Open(ctx context.Context, file, instance string) (*Traces, error) {
	provider := tracing.NewNoopTracerProvider()
	if file != "" {
		config, err := genericoptions.ReadTracingConfiguration(file)
		if err != nil {
			return nil, err
		}
		problems := tracingapi.ValidateTracingConfiguration(config, featuregate.NewFeatureGate(), nil)
		if len(problems) > 0 {
			return nil, fmt.Errorf("%s: %w", file, problems.ToAggregate())
		}
		provider, err = tracing.NewProvider(ctx, config, nil, []resource.Option{
			resource.WithAttributes(semconv.ServiceName("forewarm"), semconv.ServiceInstanceID(instance)),
		})
		if err != nil {
			return nil, err
		}
	}
	return &Traces{provider: provider, tracer: provider.Tracer("github.com/forewarm/forewarm")}, nil
}

// Close sends what is left, for a few seconds.
func (t *Traces) Close(ctx context.Context, log *slog.Logger) {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		log.WarnContext(ctx, "the last traces were not sent", "error", err)
	}
}

// Refresh begins the span of a Forecast's refresh.
func (t *Traces) Refresh(ctx context.Context, key snapshot.Key) (context.Context, func(error)) {
	ctx, span := t.tracer.Start(ctx, "refresh", trace.WithAttributes(semconv.K8SNamespaceName(key.Namespace),
		attribute.String("forewarm.forecast", key.Name)))
	return ctx, func(err error) { end(span, err) }
}

// Source wraps a source: each query is a span.
func (t *Traces) Source(next refresh.Source) refresh.Source { //nolint:ireturn // What it wraps.
	return tracedSource{t, next}
}

type tracedSource struct {
	*Traces

	next refresh.Source
}

// query begins the span of a query, and returns a function that ends it with the query's error. The span has neither the URL nor the text
// of the query, because they may contain secrets.
func (s tracedSource) query(
	ctx context.Context, q refresh.Query, of ...attribute.KeyValue,
) (context.Context, func(error)) {
	ctx, span := s.tracer.Start(ctx, "query", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(append(of,
		semconv.K8SNamespaceName(q.Namespace), attribute.String("forewarm.source", q.Source.Name),
		attribute.Int("forewarm.points", q.Points()),
	)...))
	return ctx, func(err error) { end(span, err) }
}

// Batches implements refresh.Batcher.
func (s tracedSource) Batches(queries []refresh.Query) [][]refresh.Query {
	if next, ok := s.next.(refresh.Batcher); ok {
		return next.Batches(queries)
	}
	return nil
}

// FetchBatch implements refresh.Batcher.
func (s tracedSource) FetchBatch(ctx context.Context, batch []refresh.Query) ([]refresh.Answer, error) {
	next, ok := s.next.(refresh.Batcher)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	ctx, over := s.query(ctx, batch[0], attribute.Int("forewarm.forecasts", len(batch)))
	got, err := next.FetchBatch(ctx, batch)
	over(err)
	return got, err
}

// FetchByLabel implements refresh.LabelSource.
func (s tracedSource) FetchByLabel(ctx context.Context, q refresh.Query, label string) (map[string]float64, error) {
	next, ok := s.next.(refresh.LabelSource)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	ctx, over := s.query(ctx, q)
	got, err := next.FetchByLabel(ctx, q, label)
	over(err)
	return got, err
}

// SourceClock implements refresh.Clocked. It belongs to no refresh, and so is no span.
func (s tracedSource) SourceClock(ctx context.Context, namespace string, source refresh.SourceRef) (time.Time, error) {
	next, ok := s.next.(refresh.Clocked)
	if !ok {
		return time.Time{}, errors.ErrUnsupported
	}
	return next.SourceClock(ctx, namespace, source)
}

// Fetch implements refresh.Source.
func (s tracedSource) Fetch(ctx context.Context, q refresh.Query) (forecast.Series, error) {
	ctx, over := s.query(ctx, q)
	got, err := s.next.Fetch(ctx, q)
	over(err)
	return got, err
}

// end ends a span, with an error if there is one. Errors of sources do not contain secrets.
func end(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}
