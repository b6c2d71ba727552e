package doctor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	command "github.com/forewarm/forewarm/cmd/forewarm/internal/doctor"
	"github.com/forewarm/forewarm/pkg/doctor"
)

// What is wrong stands first; what is said of several objects is said once; what is well takes a line.
func TestWrite(t *testing.T) {
	var out strings.Builder
	err := command.Write(&out, doctor.Report{Findings: []doctor.Finding{
		{
			Check: "Deployment", Level: doctor.Error, Object: "Deployment a", Message: "does not exist",
			Remedy: "install it",
		},
		{Check: "APIGroups", Level: doctor.Error, Object: "APIService b", Message: "fails", Remedy: "wait"},
		{Check: "APIGroups", Level: doctor.Error, Object: "APIService c", Message: "fails", Remedy: "wait"},
		{Check: "APIGroups", Level: doctor.Error, Object: "APIService d", Message: "fails too", Remedy: "wait"},
		{Check: "Access", Level: doctor.Unknown, Message: "you may not", Remedy: "ask"},
		{Check: "CRDs", Level: doctor.OK, Object: "x", Message: "is well"},
		{Check: "CRDs", Level: doctor.OK, Object: "y", Message: "is well"},
		{Check: "Leader", Level: doctor.OK, Message: "leads"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `ERROR    Deployment, Deployment a
         does not exist.
         → install it
ERROR    APIGroups, APIService b, APIService c
         fails.
ERROR    APIGroups, APIService d
         fails too.
         → wait
UNKNOWN  Access
         you may not.
         → ask
OK       CRDs (2), Leader (1)

4 errors, 0 warnings, 1 unknown, 3 ok
Fix the first error first: it may cause the others.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A thousand Forecasts that are ill do not fill the terminal.
func TestWriteOmits(t *testing.T) {
	var r doctor.Report
	for i := range 1000 {
		r.Findings = append(r.Findings,
			doctor.Finding{Check: "Source", Level: doctor.Error, Message: fmt.Sprintf("no series %d", i)})
	}
	var out strings.Builder
	if err := command.Write(&out, r); err != nil {
		t.Fatal(err)
	}
	lines := strings.Count(out.String(), "\n")
	if !strings.Contains(out.String(), "ERROR    Source: 990 more like these; --json lists all\n") || lines > 30 {
		t.Errorf("%d lines:\n%s", lines, out.String())
	}
}
