package logs_test

import (
	"strings"
	"testing"

	"k8s.io/klog/v2"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/logs"
)

func TestKubernetesLibrariesLogThroughOurs(t *testing.T) {
	for _, c := range []struct {
		log  logs.Options
		want []string
		not  []string
	}{
		{logs.Options{Level: "info", Format: "text"}, []string{"msg=theirs-info component=kubernetes", "msg=ours"}, nil},
		{logs.Options{Level: "debug", Format: "json"}, []string{`"msg":"theirs-info"`, `"component":"kubernetes"`}, nil},
		{logs.Options{Level: "warn", Format: "text"}, []string{"msg=theirs-error"}, []string{"theirs-info", "ours"}},
	} {
		var out strings.Builder
		log := c.log.New(&out)
		log.Info("ours")
		klog.InfoS("theirs-info")
		klog.ErrorS(nil, "theirs-error")
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%+v: %q is not in:\n%s", c.log, want, out.String())
			}
		}
		for _, not := range c.not {
			if strings.Contains(out.String(), not) {
				t.Errorf("%+v: %q is in:\n%s", c.log, not, out.String())
			}
		}
	}
}

func TestBothProblemsAtOnce(t *testing.T) {
	o := logs.Options{Level: "loud", Format: "xml"}
	err := o.Validate()
	if err == nil || !strings.Contains(err.Error(), "--log-level") || !strings.Contains(err.Error(), "--log-format") {
		t.Errorf("error %v, want both problems", err)
	}
}
