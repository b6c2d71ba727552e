package hpacases

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fakescale "k8s.io/client-go/scale/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	autoscalingv2defaults "k8s.io/kubernetes/pkg/apis/autoscaling/v2"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
	"k8s.io/kubernetes/pkg/features"
)

const (
	namespace = "default"
	target    = "target"

	// never is an informer's resync period. With 0, client-go before 0.36 would wait for a channel that is not of the test's bubble.
	never = 1000 * time.Hour
)

// world is what the controller sees in addition to the HPA: a scale and a metrics API.
type world struct {
	metrics.MetricsClient // Pods and Resource metrics: not asked for

	start    time.Time
	scale    autoscalingv1.Scale
	reads    int
	readings [][]int64
}

var errDown = errors.New("the metrics API is down")

// reading finds a metric by its name, which is its index.
func (w *world) reading(name string) ([]int64, error) {
	i, err := strconv.Atoi(name)
	if err != nil {
		return nil, err
	}
	if w.readings[i] == nil {
		return nil, errDown
	}
	return w.readings[i], nil
}

func (w *world) GetExternalMetric(name, _ string, _ labels.Selector) ([]int64, time.Time, error) {
	values, err := w.reading(name)
	return values, time.Now(), err
}

func (w *world) GetObjectMetric(
	name, _ string, _ *autoscalingv2.CrossVersionObjectReference, _ labels.Selector,
) (int64, time.Time, error) {
	values, err := w.reading(name)
	if err != nil {
		return 0, time.Time{}, err
	}
	return values[0], time.Now(), nil
}

// scales is the scale sub-resource of the target.
func (w *world) scales() *fakescale.FakeScaleClient {
	client := &fakescale.FakeScaleClient{}
	client.AddReactor("get", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		// From 1.37 on, the controller syncs a new HPA at once, before 1.37 a period later. This first sync fails.
		if time.Since(w.start) == 0 {
			return true, nil, errDown
		}
		w.reads++
		return true, w.scale.DeepCopy(), nil
	})
	client.AddReactor("update", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		update, ok := action.(clienttesting.UpdateAction)
		if !ok {
			return true, nil, fmt.Errorf("an update is a %T", action)
		}
		scale, ok := update.GetObject().(*autoscalingv1.Scale)
		if !ok {
			return true, nil, fmt.Errorf("a scale is a %T", update.GetObject())
		}
		w.scale.Spec.Replicas = scale.Spec.Replicas
		return true, scale, nil
	})
	return client
}

// record runs a generated HPA for a number of syncs.
func record(t *testing.T, seed uint64, syncs int) Case {
	t.Helper()
	g := generator{rand.New(rand.NewPCG(seed, 36))}
	out := Case{Spec: g.spec()}
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.HPAScaleToZero,
		out.Spec.ScaleToZero)
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.HPAConfigurableTolerance, true)
	hpa := out.Spec.object(t)
	out.Spec.completeBy(hpa)
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		w := &world{scale: autoscalingv1.Scale{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: target},
			Status:     autoscalingv1.ScaleStatus{Selector: "app=target"},
		}}
		client := fake.NewSimpleClientset()
		factory := informers.NewSharedInformerFactory(client, never)
		pods := factory.Core().V1().Pods()
		controller := podautoscaler.NewHorizontalController(ctx, client.CoreV1(), w.scales(), client.AutoscalingV2(),
			mapper(), w, factory.Autoscaling().V2().HorizontalPodAutoscalers(), pods,
			time.Duration(out.Spec.Every)*time.Second, time.Duration(out.Spec.Stabilization)*time.Second,
			out.Spec.Tolerance, 0, 0)
		factory.Start(ctx.Done())
		over := make(chan struct{})
		go func() { defer close(over); controller.Run(ctx, 1) }()
		time.Sleep(time.Second) // It waits for its caches.
		w.start = time.Now()
		if _, err := client.AutoscalingV2().HorizontalPodAutoscalers(namespace).Create(ctx, hpa, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		demand := &load{generator: g}
		for range syncs {
			out.Syncs = append(out.Syncs, w.sync(ctx, t, demand, out.Spec, pods.Informer().GetIndexer(), client))
		}
		stop()
		<-over
		factory.Shutdown()
	})
	return out
}

// sync sets the scene, waits until the controller has looked at it, and writes down what it did.
func (w *world) sync(
	ctx context.Context,
	t *testing.T,
	demand *load,
	spec Spec,
	pods cache.Indexer,
	client *fake.Clientset,
) Sync {
	t.Helper()
	// Half a period after the last sync, half before the next.
	if w.reads == 0 {
		time.Sleep(time.Duration(spec.Every) * time.Second / 2)
		w.scale.Spec.Replicas = pick(demand.generator, 0, 1, spec.Min, spec.Max, spec.Max+3)
	} else if demand.IntN(25) == 0 {
		w.scale.Spec.Replicas = pick(demand.generator, 0, 1, spec.Min, spec.Max+2) // Somebody scales by hand.
	}
	w.scale.Status.Replicas = w.settle(demand.generator)
	s := Sync{Replicas: w.scale.Spec.Replicas, Existing: w.scale.Status.Replicas, Pods: w.scale.Status.Replicas}
	s.Ready = s.Pods
	if demand.IntN(3) == 0 && s.Pods > 0 {
		s.Ready = demand.Int32N(s.Pods + 1)
	}
	setPods(t, pods, s.Pods, s.Ready)
	w.readings = demand.readings(spec, demand.next(spec.Max))
	s.Readings = w.readings

	reads := w.reads
	time.Sleep(time.Duration(spec.Every) * time.Second / 2)
	synctest.Wait()
	if w.reads != reads+1 {
		t.Fatalf("the controller looked %d times", w.reads-reads)
	}
	s.At = time.Since(w.start).Milliseconds()
	time.Sleep(time.Duration(spec.Every) * time.Second / 2)
	s.Result = w.scale.Spec.Replicas
	hpa, err := client.AutoscalingV2().HorizontalPodAutoscalers(namespace).Get(ctx, target, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.Active = reason(hpa, autoscalingv2.ScalingActive)
	s.Able = reason(hpa, autoscalingv2.AbleToScale)
	s.Limited = reason(hpa, autoscalingv2.ScalingLimited)
	return s
}

// settle lets what exists come near what was asked for.
func (w *world) settle(g generator) int32 {
	asked, existing := w.scale.Spec.Replicas, w.scale.Status.Replicas
	if g.IntN(3) > 0 || asked == existing {
		return asked
	}
	return min(asked, existing) + g.Int32N(max(asked, existing)-min(asked, existing)+1)
}

func reason(hpa *autoscalingv2.HorizontalPodAutoscaler, of autoscalingv2.HorizontalPodAutoscalerConditionType) string {
	for _, c := range hpa.Status.Conditions {
		if c.Type == of {
			return c.Reason
		}
	}
	return ""
}

// setPods puts pods straight into the informer's store: thousands of writes through the API would take long.
func setPods(t *testing.T, store cache.Indexer, n, ready int32) {
	t.Helper()
	list := make([]any, n)
	for i := range list {
		status := corev1.PodStatus{Phase: corev1.PodPending}
		if int32(i) < ready {
			status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionTrue},
			}}
		}
		list[i] = &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: fmt.Sprintf("pod-%d", i), Labels: map[string]string{"app": "target"},
			},
			Status: status,
		}
	}
	if err := store.Replace(list, ""); err != nil {
		t.Fatal(err)
	}
}

func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{appsv1.SchemeGroupVersion})
	m.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
	return m
}

// object is the HPA as the API server stores it, with its defaults.
func (s Spec) object(t *testing.T) *autoscalingv2.HorizontalPodAutoscaler {
	t.Helper()
	hpa := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: target},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{
				APIVersion: "apps/v1",
				Kind:       "Deployment",
				Name:       target,
			},
			MinReplicas: &s.Min,
			MaxReplicas: s.Max,
		},
	}
	for i, m := range s.Metrics {
		hpa.Spec.Metrics = append(hpa.Spec.Metrics, m.object(strconv.Itoa(i)))
	}
	if s.Up != nil || s.Down != nil {
		hpa.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{
			ScaleUp:   s.Up.object(),
			ScaleDown: s.Down.object(),
		}
	}
	autoscalingv2defaults.SetDefaults_HorizontalPodAutoscaler(hpa)
	return hpa
}

func (m Metric) object(name string) autoscalingv2.MetricSpec {
	quantity := resource.NewMilliQuantity(m.Target, resource.DecimalSI)
	goal := autoscalingv2.MetricTarget{Type: autoscalingv2.MetricTargetType(m.Type)}
	if m.Type == "Value" {
		goal.Value = quantity
	} else {
		goal.AverageValue = quantity
	}
	id := autoscalingv2.MetricIdentifier{Name: name}
	if m.Source == "Object" {
		return autoscalingv2.MetricSpec{
			Type:   autoscalingv2.ObjectMetricSourceType,
			Object: &autoscalingv2.ObjectMetricSource{Metric: id, Target: goal},
		}
	}
	return autoscalingv2.MetricSpec{
		Type:     autoscalingv2.ExternalMetricSourceType,
		External: &autoscalingv2.ExternalMetricSource{Metric: id, Target: goal},
	}
}

func (r *Rules) object() *autoscalingv2.HPAScalingRules {
	if r == nil {
		return nil
	}
	choice := autoscalingv2.ScalingPolicySelect(r.Select)
	out := &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: r.Stabilization, SelectPolicy: &choice}
	if r.Tolerance != "" {
		tolerance := resource.MustParse(r.Tolerance)
		out.Tolerance = &tolerance
	}
	for _, p := range r.Policies {
		out.Policies = append(out.Policies, autoscalingv2.HPAScalingPolicy{
			Type: autoscalingv2.HPAScalingPolicyType(p.Type), Value: p.Value, PeriodSeconds: p.Period,
		})
	}
	return out
}

// completeBy takes the API server's defaults over into the recording.
func (s *Spec) completeBy(hpa *autoscalingv2.HorizontalPodAutoscaler) {
	if hpa.Spec.Behavior == nil {
		return
	}
	s.Up, s.Down = recorded(hpa.Spec.Behavior.ScaleUp), recorded(hpa.Spec.Behavior.ScaleDown)
}

func recorded(rules *autoscalingv2.HPAScalingRules) *Rules {
	out := &Rules{Stabilization: rules.StabilizationWindowSeconds, Select: string(*rules.SelectPolicy)}
	if rules.Tolerance != nil {
		out.Tolerance = rules.Tolerance.String()
	}
	for _, p := range rules.Policies {
		out.Policies = append(out.Policies, Policy{Type: string(p.Type), Value: p.Value, Period: p.PeriodSeconds})
	}
	return out
}
