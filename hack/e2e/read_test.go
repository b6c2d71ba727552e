package e2e_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// scale returns how many replicas a Deployment should have, and how many are ready.
func (s *stage) scale(t *testing.T, namespace, name string) string {
	t.Helper()
	return s.get(t, "deployment", name, "-n", namespace, "-o", "jsonpath={.spec.replicas} {.status.readyReplicas}")
}

// scaled waits until a Deployment has a number of ready replicas.
func (s *stage) scaled(t *testing.T, namespace, name string, want int) {
	t.Helper()
	read := func(t *testing.T) string { t.Helper(); return s.scale(t, namespace, name) }
	both := fmt.Sprintf("%d %d", want, want)
	if want == 0 { // A status without ready replicas does not have the field.
		both = "0"
	}
	expect(t, name+"'s replicas wanted and ready", read, both)
}

// condition returns a field of an HPA's condition ScalingActive.
func (s *stage) condition(t *testing.T, namespace, hpa, field string) string {
	t.Helper()
	return s.get(t, "hpa", hpa, "-n", namespace, "-o",
		fmt.Sprintf(`jsonpath={.status.conditions[?(@.type=="ScalingActive")].%s}`, field))
}

// active waits until an HPA's condition ScalingActive has a reason.
func (s *stage) active(t *testing.T, namespace, hpa, want string) {
	t.Helper()
	clustertest.MustEventually(t, func() string {
		if reason := s.condition(t, namespace, hpa, "reason"); reason != want {
			return fmt.Sprintf("HPA %s is %s, want %s: %s", hpa, reason, want,
				s.condition(t, namespace, hpa, "message"))
		}
		return ""
	})
}

const (
	found   = "ValidMetricFound"
	missing = "FailedGetExternalMetric"
)

// state returns the state of a Forecast.
func (s *stage) state(t *testing.T, namespace, name string) string {
	t.Helper()
	return s.get(t, "forecast", name, "-n", namespace, "-o", "jsonpath={.status.state}")
}

// metric returns the path of an external metric.
func metric(namespace, name, selector string) string {
	path := "/apis/external.metrics.k8s.io/v1beta1/namespaces/" + namespace + "/" + name
	if selector != "" {
		path += "?labelSelector=" + strings.NewReplacer("=", "%3D", ",", "%2C").Replace(selector)
	}
	return path
}

// value returns a metric by the aggregator, in thousandths.
func (s *stage) value(t *testing.T, namespace, name, selector string) (milli int64) {
	t.Helper()
	clustertest.MustEventually(t, func() string {
		out, err := s.Kubectl(t.Context(), "", "get", "--raw", metric(namespace, name, selector))
		if err != nil {
			return err.Error()
		}
		milli = milliOf(out)
		return ""
	})
	return milli
}

// milliOf returns the quantity in a list of one metric value, in thousandths.
func milliOf(list string) (milli int64) {
	_, text, _ := strings.Cut(list, `"value":"`)
	text, _, _ = strings.Cut(text, `"`)
	if n, err := fmt.Sscanf(text, "%dm", &milli); err == nil && n == 1 && strings.HasSuffix(text, "m") {
		return milli
	}
	if _, err := fmt.Sscan(text, &milli); err != nil {
		return -1
	}
	return milli * 1000
}

// ask requests a path of a server, bypassing the aggregator.
func (s *stage) ask(url string) (string, error) {
	client, err := s.Administrator()
	if err != nil {
		return "", err
	}
	response, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // Read only.
	body, err := io.ReadAll(response.Body)
	return string(body), err
}
