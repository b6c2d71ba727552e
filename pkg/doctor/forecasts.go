package doctor

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/explain"
	"github.com/forewarm/forewarm/pkg/kube/aggregation"
	"github.com/forewarm/forewarm/pkg/kube/pools"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

// checkForecasts: what does Forewarm itself say of each Forecast?
func checkForecasts(_ context.Context, _ *Doctor, s *state) []Finding {
	if len(s.forecasts) == 0 && s.listed {
		return []Finding{{
			Check: "Forecasts", Level: Skipped, Message: "there is no Forecast",
			Remedy: "create one (docs/quickstart.md)",
		}}
	}
	var out []Finding
	for i := range s.forecasts {
		out = append(out, s.stateOf(&s.forecasts[i])...)
	}
	return out
}

// stateOf is what is wrong with a Forecast by its own conditions, or that nothing is.
func (s *state) stateOf(f *v1alpha1.Forecast) []Finding {
	object := "Forecast " + f.Namespace + "/" + f.Name
	finding := func(check string, level Level, c *metav1.Condition, remedy string) Finding {
		return Finding{Check: check, Level: level, Object: object, Message: c.Reason + ": " + c.Message, Remedy: remedy}
	}
	conditions := f.Status.Conditions
	ready := meta.FindStatusCondition(conditions, snapshot.ConditionReady)
	if ready == nil {
		return []Finding{
			{
				Check:   "Forecasts",
				Level:   Error,
				Object:  object,
				Message: "Forewarm has not written a status yet",
				Remedy: "wait a minute; if this lasts, check that a replica is the leader and has the permission " +
					"(see the checks Deployment, Leader and Rights)",
			},
		}
	}
	var out []Finding
	source := meta.FindStatusCondition(conditions, snapshot.ConditionSource)
	failing := source != nil && source.Status == metav1.ConditionFalse
	if failing {
		out = append(out, finding("Source", Error, source, s.sourceRemedy(source.Reason)))
	}
	switch state := snapshot.State(ready.Reason); {
	case state == snapshot.Invalid:
		out = append(out, finding("Forecasts", Error, ready, "correct the Forecast"))
	case failing: // The state follows from it.
	case ready.Status != metav1.ConditionTrue:
		level := Error
		if state.Serves() {
			level = Warning
		}
		out = append(out, finding("Forecasts", level, ready, "see docs/reference/conditions.md#ready"))
	case state == snapshot.Warming:
		out = append(out, finding("History", Warning, ready, "wait until there is more history, or read from a "+
			"Prometheus with a longer retention"))
	}
	for _, kind := range []string{
		snapshot.ConditionData, snapshot.ConditionSignal, snapshot.ConditionSaturated, snapshot.ConditionUncalibrated,
		snapshot.ConditionExposed, snapshot.ConditionAutoscalers,
	} {
		// Data that is clean and a signal that is plausible are no finding; demand that is saturated is one.
		good := metav1.ConditionTrue
		if kind == snapshot.ConditionSaturated || kind == snapshot.ConditionUncalibrated {
			good = metav1.ConditionFalse
		}
		c := meta.FindStatusCondition(conditions, kind)
		if c == nil || c.Status == good {
			continue
		}
		out = append(out, finding("Forecasts", Warning, c, "see docs/reference/conditions.md, "+kind))
	}
	if c := meta.FindStatusCondition(conditions, snapshot.ConditionPaused); c != nil {
		out = append(out, sinceWhen(finding("Forecasts", Warning, c, s.resume(f)), c))
	}
	out = append(out, adviceOn(f, object)...)
	if len(out) == 0 {
		out = append(out, Finding{Check: "Forecasts", Level: OK, Object: object, Message: "is " + ready.Reason})
	}
	return out
}

// adviceOn is what a valid spec should rather not ask for.
func adviceOn(f *v1alpha1.Forecast, object string) []Finding {
	advice := manifest.Advice(&f.Spec)
	if advice == "" {
		return nil
	}
	return []Finding{
		{
			Check:   "Forecasts",
			Level:   Warning,
			Object:  object,
			Message: "spec.objective: " + advice,
			Remedy:  "see docs/objectives.md",
		},
	}
}

// sinceWhen says of a pause that it is one, and since when.
func sinceWhen(paused Finding, c *metav1.Condition) Finding {
	if c.Status != metav1.ConditionTrue {
		return paused
	}
	since := ""
	if at := c.LastTransitionTime; !at.IsZero() { // An outlook does not say.
		since = " since " + at.UTC().Format("2006-01-02 15:04 UTC")
	}
	paused.Message = "is paused" + since + ": " + c.Message
	return paused
}

func (s *state) sourceRemedy(reason string) string {
	switch reason {
	case snapshot.ReasonNoSeries:
		return "run forewarm doctor --prometheus URL to find out which part of the query has no series"
	case snapshot.ReasonUnavailable:
		if s.server != "" {
			return "check --prometheus-url of forewarm serve"
		}
		return "check --prometheus-url of Forewarm's Deployment, and that NetworkPolicies allow it to reach the Prometheus"
	case snapshot.ReasonClockBehind, snapshot.ReasonClockDiffers:
		return "synchronize the clocks of the nodes and of the source (NTP)"
	case snapshot.ReasonPending:
		return "wait"
	}
	return "see docs/reference/conditions.md#sourcehealthy"
}

// checkPools: does the cluster support what WarmPools ask for, and does a quota refuse it?
func checkPools(ctx context.Context, d *Doctor, s *state) []Finding {
	var out []Finding
	for i := range s.pools {
		out = append(out, d.checkPool(ctx, &s.pools[i])...)
	}
	return out
}

func (d *Doctor) checkPool(ctx context.Context, stored *unstructured.Unstructured) []Finding {
	const name = "WarmPools"
	object := "WarmPool " + stored.GetNamespace() + "/" + stored.GetName()
	invalid := func(text string) []Finding {
		return []Finding{{Check: name, Level: Error, Object: object, Message: text, Remedy: "correct the WarmPool"}}
	}
	read, err := manifest.PoolFromObject(stored.Object)
	if err != nil {
		return invalid(err.Error())
	}
	resolved, problems := manifest.ResolvePool(read)
	if len(problems) > 0 {
		return invalid(manifest.JoinProblems(problems))
	}
	p := resolved.Object
	v1alpha1.ReadStatus(stored, &p.Status)
	var out []Finding
	for _, kind := range []string{v1alpha1.PoolConditionActuated, v1alpha1.PoolConditionMembersResolved} {
		if c := meta.FindStatusCondition(p.Status.Conditions, kind); c != nil && c.Status == metav1.ConditionFalse {
			out = append(out, Finding{
				Check: name, Level: Error, Object: object, Message: c.Reason + ": " + c.Message,
				Remedy: "see docs/reference/conditions.md, " + kind,
			})
		}
	}
	if p.Spec.Actuator.CapacityBuffer != nil {
		out = append(out, d.buffers(object)...)
	}
	if p.Spec.Actuator.PlaceholderPods != nil {
		out = append(out, d.quotas(ctx, p, object)...)
	}
	if len(out) == 0 {
		out = append(out, Finding{Check: name, Level: OK, Object: object, Message: "the cluster can hold its capacity"})
	}
	return out
}

// buffers is whether the cluster has CapacityBuffers in the version that Forewarm writes. Whether an autoscaler provides for
// them shows once there is one: the condition Actuated has it.
func (d *Doctor) buffers(object string) []Finding {
	const group, version = "autoscaling.x-k8s.io", "v1beta1"
	const advice = "install the CRD CapacityBuffer and an autoscaler that supports it (Cluster Autoscaler 1.35 or Karpenter " +
		"1.14, both behind a flag, or GKE), or use spec.actuator.placeholderPods"
	groups, err := d.clients.Discovery().ServerGroups()
	if err != nil {
		return []Finding{unread("CapacityBuffers", "the API groups of the cluster", err)}
	}
	f := Finding{
		Check:   "CapacityBuffers",
		Level:   Error,
		Object:  object,
		Message: "the cluster does not have the resource CapacityBuffer (" + group + "/" + version + ")",
		Remedy:  advice,
	}
	for _, g := range groups.Groups {
		if g.Name != group {
			continue
		}
		var versions []string
		for _, v := range g.Versions {
			versions = append(versions, v.Version)
		}
		if slices.Contains(versions, version) {
			return nil
		}
		f.Message += ", only " + join(versions)
		f.Remedy = "upgrade the CRD CapacityBuffer and its autoscaler, or use spec.actuator.placeholderPods"
	}
	return []Finding{f}
}

// quotas is whether a ResourceQuota refuses the pods that a pool makes room for.
func (d *Doctor) quotas(ctx context.Context, p *v1alpha1.WarmPool, object string) []Finding {
	text, err := pools.QuotaWarning(ctx, d.clients, p)
	switch {
	case err != nil:
		return []Finding{unread("Quotas", "the ResourceQuotas of "+p.Namespace, err)}
	case text != "":
		return []Finding{{
			Check: "Quotas", Level: Error, Object: object, Message: text, Remedy: "see docs/warm-pools.md",
		}}
	}
	return nil
}

// checkAutoscalers explains each HPA that may read a Forecast, and repeats the warnings of "forewarm explain". An HPA or a ScaledObject
// that names a Forecast that does not exist is an error.
func checkAutoscalers(ctx context.Context, d *Doctor, s *state) []Finding {
	_, external := s.checkGroup(apiGroup{name: aggregation.External}, d.service(s))
	var out []Finding
	reported := map[string]bool{} // ScaledObjects: their HPAs need no second finding.
	for i := range s.scaledObjects {
		o := &s.scaledObjects[i]
		missing := s.missingInTriggers(o)
		reported[o.GetNamespace()+"/"+o.GetName()] = len(missing) > 0
		out = append(out, missing...)
	}
	for i := range s.hpas {
		if ctx.Err() != nil {
			break
		}
		h := s.hpas[i]
		if missing := s.missingForecasts(h, external); len(missing) > 0 {
			out = append(out, missing...)
		} else if s.mayRead(h) && !reported[h.Namespace+"/"+h.Owner] {
			out = append(out, d.explain(ctx, h)...)
		}
	}
	return out
}

// missingForecasts returns the Forecasts that an HPA reads and that do not exist. external reports whether Forewarm serves External
// metrics. Otherwise the metric may belong to another server.
func (s *state) missingForecasts(h *hpa.Autoscaler, external bool) []Finding {
	if !s.knowsForecasts(h.Namespace) || h.Owner != "" {
		return nil
	}
	var out []Finding
	for i := range h.Metrics {
		from := &h.Metrics[i]
		if from.Forecast == "" || s.reads(h, from) || !from.Certain && !external {
			continue
		}
		out = append(out, Finding{
			Check:   "Autoscalers",
			Level:   Error,
			Object:  "HPA " + h.Namespace + "/" + h.Name,
			Message: "reads the Forecast " + from.Forecast + ", which does not exist, so the HPA gets no value and keeps its replicas",
			Remedy: "create the Forecast, change the metric to the name of an existing Forecast, or expose the metric and its " +
				"labels in a Forecast (spec.expose)",
		})
	}
	return out
}

// missingInTriggers are the Forecasts that the triggers of a ScaledObject name and that do not exist. Neither KEDA's status nor its HPA
// shows them: a trigger with its own target has a metric, and KEDA's fallback gives the metric a value.
func (s *state) missingInTriggers(o *unstructured.Unstructured) []Finding {
	if !s.knowsForecasts(o.GetNamespace()) {
		return nil
	}
	var out []Finding
	read, err := autoscaler.FromScaledObject(o)
	if err != nil {
		return nil // KEDA says so.
	}
	for i := range read.Metrics {
		named := read.Metrics[i].Forecast
		if named == "" || slices.Contains(s.forecastsIn(o.GetNamespace()), named) {
			continue
		}
		out = append(out, Finding{
			Check:  "Autoscalers",
			Level:  Error,
			Object: "ScaledObject " + o.GetNamespace() + "/" + o.GetName(),
			Message: "reads the Forecast " + named + ", which does not exist in its namespace, so KEDA gets no value and keeps the " +
				"replicas or applies the fallback of the ScaledObject",
			Remedy: "create the Forecast, or change the trigger to the name of an existing Forecast",
		})
	}
	return out
}

// knowsForecasts reports whether all Forecasts of a namespace were listed.
func (s *state) knowsForecasts(namespace string) bool {
	return s.listed && (s.listedIn == "" || s.listedIn == namespace)
}

// reads reports whether a metric of an HPA is a Forecast of its namespace, by its name or its alias.
func (s *state) reads(h *hpa.Autoscaler, from *hpa.AutoscalerMetric) bool {
	f, _ := autoscaler.Reading(from, h.Namespace, s.forecasts)
	return f != nil
}

// forecastsIn are the names of a namespace's Forecasts.
func (s *state) forecastsIn(namespace string) (names []string) {
	for i := range s.forecasts {
		if f := &s.forecasts[i]; f.Namespace == namespace {
			names = append(names, f.Name)
		}
	}
	return names
}

// mayRead reports whether an HPA has a metric of a Forecast of its namespace, or KEDA made it: its triggers are read later.
func (s *state) mayRead(h *hpa.Autoscaler) bool {
	if len(s.forecastsIn(h.Namespace)) == 0 {
		return false
	}
	return h.Owner != "" ||
		slices.ContainsFunc(h.Metrics, func(m hpa.AutoscalerMetric) bool { return s.reads(h, &m) })
}

// explainTimeout bounds the explanation of one HPA, so that one that hangs leaves time for the others.
const explainTimeout = 30 * time.Second

func (d *Doctor) explain(ctx context.Context, h *hpa.Autoscaler) []Finding {
	const name = "Autoscalers"
	ctx, cancel := context.WithTimeout(ctx, explainTimeout)
	defer cancel()
	of := h.Namespace + "/" + h.Name
	e, err := explain.FromCluster(ctx, explain.Config{
		Cluster: d.Cluster, Namespace: h.Namespace, Name: h.Name, Now: d.Now,
	})
	switch {
	case isAbsent(err):
		return nil // It was deleted in the meantime.
	case err != nil:
		f := unread(name, "HPA "+of, err)
		f.Object = "HPA " + of
		return []Finding{f}
	}
	var out []Finding
	found := func(level Level, message, remedy string) {
		out = append(out, Finding{Check: name, Level: level, Object: "HPA " + of, Message: message, Remedy: remedy})
	}
	reads := false
	for i := range e.Metrics {
		m := &e.Metrics[i]
		reads = reads || m.Forecast != ""
		if m.Error != "" {
			found(Error, "metric "+m.Name+": "+m.Error,
				"see docs/troubleshooting.md, and forewarm explain "+of+" for the details")
		}
	}
	if !reads {
		return nil // Another of KEDA's.
	}
	for _, w := range e.Warnings {
		found(Warning, w.Reason+": "+w.Message, w.Advice)
	}
	for _, text := range e.Unknown {
		found(Unknown, "cannot read "+text, ask)
	}
	if len(out) == 0 {
		found(OK, "reads its Forecast without warnings", "")
	}
	return out
}
