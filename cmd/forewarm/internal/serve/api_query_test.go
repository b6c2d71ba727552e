package serve_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
)

// An error is short, whatever is asked: it stands in logs, and in the conditions of HPAs.
func TestErrorsEchoLittle(t *testing.T) {
	base := startStandalone(t, snapshottest.Store(snapshottest.EveryState()...))
	var keys []string
	for i := range 60 {
		keys = append(keys, fmt.Sprintf("unknown%d%%3D1", i))
	}
	for name, selector := range map[string]string{
		"a long selector": strings.Repeat("quantile%3D0.9,", 400), "no selector": strings.Repeat("%21", 900),
		"a long value": "quantile%3D" + strings.Repeat("9", 900), "many keys": strings.Join(keys, ","),
		"what cannot be unescaped": strings.Repeat("%zz", 2000), "control characters": strings.Repeat("%07", 900),
	} {
		for _, path := range []string{
			"/apis/external.metrics.k8s.io/v1beta1/namespaces/inference/ready?labelSelector=",
			objectPath + "/ready/demand?metricLabelSelector=",
		} {
			got := get(t, apiPlain(t), base+path+selector)
			if got.code != http.StatusBadRequest || len(got.body) > 1000 {
				t.Errorf("%s: %d with %d bytes, want 400 with few: %.300s", name, got.code, len(got.body), got.body)
			}
		}
	}
}
