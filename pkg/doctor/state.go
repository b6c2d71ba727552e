package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/kube/aggregation"
	"github.com/forewarm/forewarm/pkg/kube/client"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

// The names of Forewarm's objects, as its manifests have them. A release of the chart may have another name.
const (
	ownName   = "forewarm"
	ownSecret = "forewarm-ca"
	ownLabel  = "app.kubernetes.io/part-of=forewarm"
)

const forecastsResource = "forecasts"

// reinstall is what to do about missing or changed objects.
const reinstall = "apply Forewarm's manifests again, or upgrade its chart"

// state is what several checks need, read once.
type state struct {
	// server is the address of a standalone Forewarm; empty for one in a cluster.
	server string
	// name is Forewarm's: that of its Deployment, Service and account.
	name string
	// deployment is Forewarm's own, nil where it does not exist or may not be read; args are the flags of its container.
	deployment *appsv1.Deployment
	args       map[string]string
	// missing is true where there is no Deployment; undefined where there is no CRD of Forecasts.
	missing, undefined bool
	// listed is true where the Forecasts could be read: of all namespaces or, where listedIn is set, of that one only.
	listed         bool
	listedIn       string
	apiServices    []apiService
	apiServicesErr error
	forecasts      []v1alpha1.Forecast
	pools          []unstructured.Unstructured
	fleets         []unstructured.Unstructured
	hpas           []*hpa.Autoscaler
	scaledObjects  []unstructured.Unstructured
	scaledJobs     []unstructured.Unstructured
	apiClock       measured
	// findings are what could not be read.
	findings []Finding
}

// absent reports that nothing of Forewarm is there.
func (s *state) absent() bool { return s.missing && s.undefined }

// service is Forewarm's own.
func (d *Doctor) service(s *state) aggregation.Service {
	if name := s.args["service"]; name != "" {
		return aggregation.Service(name)
	}
	return aggregation.Service(d.Namespace + "/" + s.name)
}

func (d *Doctor) read(ctx context.Context) *state {
	s := &state{name: ownName, args: map[string]string{}}
	d.readDeployment(ctx, s)
	s.apiServices, s.apiServicesErr = d.readAPIServices(ctx)
	stored := d.list(ctx, s, v1alpha1.GroupVersion().WithResource(forecastsResource))
	s.listed = stored != nil
	for _, object := range stored {
		var f v1alpha1.Forecast
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &f); err != nil {
			s.findings = append(s.findings, Finding{
				Check: "Forecasts", Level: Error, Object: "Forecast " + object.GetNamespace() + "/" + object.GetName(),
				Message: "cannot be read: " + client.APIMessage(err),
				Remedy:  "correct it, or delete it and create it again",
			})
			continue
		}
		s.forecasts = append(s.forecasts, f)
	}
	s.pools = d.list(ctx, s, v1alpha1.GroupVersion().WithResource("warmpools"))
	if s.isSet("fleets") {
		s.fleets = d.list(ctx, s, v1alpha1.GroupVersion().WithResource("gpufleets"))
	}
	for _, object := range d.list(ctx, s, autoscaler.HPAs()) {
		var h autoscalingv2.HorizontalPodAutoscaler
		if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &h) == nil {
			s.hpas = append(s.hpas, autoscaler.FromHPA(&h))
		}
	}
	// Without KEDA a caller with few rights would be told that ScaledObjects are forbidden.
	if _, err := d.clients.Discovery().
		ServerResourcesForGroupVersion(autoscaler.ScaledObjects().GroupVersion().String()); err == nil {
		s.scaledObjects = d.list(ctx, s, autoscaler.ScaledObjects())
		if s.isSet("fleets") {
			s.scaledJobs = d.list(ctx, s, autoscaler.ScaledObjects().GroupVersion().WithResource("scaledjobs"))
		}
	}
	return s
}

func (d *Doctor) readDeployment(ctx context.Context, s *state) {
	found, err := d.clients.AppsV1().Deployments(d.Namespace).List(ctx, metav1.ListOptions{LabelSelector: ownLabel})
	switch {
	case isAbsent(err) || err == nil && len(found.Items) == 0:
		s.missing = true
	case err != nil:
		s.findings = append(s.findings, unread("Deployment", "the Deployments of "+d.Namespace, err))
	default:
		s.deployment = &found.Items[0]
		s.name = s.deployment.Name
		for i := range s.deployment.Spec.Template.Spec.Containers {
			if c := &s.deployment.Spec.Template.Spec.Containers[i]; i == 0 || c.Name == ownName {
				s.args = parseArgs(append(slices.Clone(c.Command), c.Args...))
			}
		}
	}
}

// parseArgs reads --name=value and --name value; a flag without a value is "true".
func parseArgs(args []string) map[string]string {
	flags := map[string]string{}
	for i, arg := range args {
		name, ok := strings.CutPrefix(arg, "--")
		if !ok {
			continue
		}
		name, value, given := strings.Cut(name, "=")
		if !given {
			value = "true"
			if i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				value = args[i+1]
			}
		}
		flags[name] = value
	}
	return flags
}

// list reads the objects of all namespaces, or of one where the caller may not. What is not read is a finding.
func (d *Doctor) list(ctx context.Context, s *state, of schema.GroupVersionResource) []unstructured.Unstructured {
	found, err := client.ListAll(ctx, d.objects.Resource(of))
	if apierrors.IsForbidden(err) {
		what := of.GroupResource().String() + " of all namespaces"
		if some, other := client.ListAll(ctx, d.objects.Resource(of).Namespace(d.Elsewhere)); other == nil {
			f := unread("Access", what, err)
			f.Message = "checked only the " + of.GroupResource().
				String() +
				" of the namespace " + d.Elsewhere + ": " + f.Message
			s.findings = append(s.findings, f)
			if of.Resource == forecastsResource {
				s.listedIn = d.Elsewhere
			}
			return some
		}
		s.findings = append(s.findings, unread("Access", what, err))
		return nil
	}
	switch {
	case isAbsent(err):
		s.undefined = s.undefined || of.Resource == forecastsResource
	case err != nil:
		s.findings = append(s.findings, unread("Access", of.GroupResource().String(), err))
	}
	return found
}

// now is the time by the kube-apiserver's clock, which leases and certificates follow.
func (s *state) now(d *Doctor) time.Time { return d.Now().Add(s.apiClock.ahead()) }

// measured is the time by another clock, and ours before and after it was asked.
type measured struct{ other, before, after time.Time }

// ahead is how far the other clock is ahead of ours, at least: 0 where the difference is within the time that asking took and
// the second to which HTTP rounds.
func (m measured) ahead() time.Duration {
	switch {
	case m.other.IsZero():
		return 0
	case m.other.After(m.after):
		return m.other.Sub(m.after)
	case m.other.Add(time.Second).Before(m.before):
		return m.other.Add(time.Second).Sub(m.before)
	}
	return 0
}

var errGarbage = errors.New("it is not in PEM format")
