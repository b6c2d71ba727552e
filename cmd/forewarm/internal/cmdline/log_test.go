package cmdline_test

import (
	stdlog "log"
	"strings"
	"testing"

	"k8s.io/klog/v2"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
)

func TestKubernetesLibrariesLogThroughOurs(t *testing.T) {
	for _, c := range []struct {
		log  cmdline.Log
		want []string
		not  []string
	}{
		{cmdline.Log{Level: "info", Format: "text"}, []string{"msg=theirs-info component=kubernetes", "msg=ours"}, nil},
		{cmdline.Log{Level: "debug", Format: "json"}, []string{`"msg":"theirs-info"`, `"component":"kubernetes"`}, nil},
		{cmdline.Log{Level: "warn", Format: "text"}, []string{"msg=theirs-error"}, []string{"theirs-info", "ours"}},
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
	o := cmdline.Log{Level: "loud", Format: "xml"}
	err := o.Validate()
	if err == nil || !strings.Contains(err.Error(), "--log-level") || !strings.Contains(err.Error(), "--log-format") {
		t.Errorf("error %v, want both problems", err)
	}
}

// No line is in another form than asked: whoever reads JSON reads all.
func TestGoLogsThroughOurs(t *testing.T) {
	var out strings.Builder
	l := cmdline.Log{Level: "info", Format: "json"}
	l.New(&out)
	stdlog.Print("http2: server: error reading preface")
	if got := out.String(); !strings.Contains(got, `"msg":"http2: server: error reading preface","component":"go"}`) {
		t.Errorf("%s", got)
	}
}
