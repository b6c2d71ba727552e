package inspect_test

import (
	"encoding/base64"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
)

// Whatever a list is to go on from, it is a part of what there is or a short 400.
func FuzzContinue(f *testing.F) {
	f.Add("", int64(1))
	f.Add(base64.RawURLEncoding.EncodeToString([]byte("inference/ready")), int64(0))
	f.Add("%%%", int64(-1))
	f.Add(base64.RawURLEncoding.EncodeToString([]byte("\x00/\xff")), int64(1<<62))
	entries := snapshottest.EveryState()
	s := outlooks(f, snapshottest.Store(entries...))
	f.Fuzz(func(t *testing.T, token string, limit int64) {
		got, err := s.List(t.Context(), &internalversion.ListOptions{Continue: token, Limit: limit})
		if err != nil {
			if !apierrors.IsBadRequest(err) || len(err.Error()) > 900 {
				t.Fatalf("%q: %v", token, err)
			}
			return
		}
		list, ok := got.(*v1alpha1.OutlookList)
		if !ok || len(list.Items) > len(entries) || limit > 0 && int64(len(list.Items)) > limit {
			t.Fatalf("%q, %d: %T of %d", token, limit, got, len(list.Items))
		}
	})
}
