package apiservices

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forewarm/forewarm/pkg/kube/changes"
)

// The fields of an APIService's spec by which the kube-apiserver verifies the server behind it.
const (
	caBundle = "caBundle"
	insecure = "insecureSkipTLSVerify"
)

const (
	// trustRetry is the pause after a write that failed.
	trustRetry = 5 * time.Second
	// unverifiedGrace is how long an APIService that an older Forewarm's manifests left unverified stays so: replicas of that
	// version, whose certificates nobody can verify, serve until the rolling update is over.
	unverifiedGrace = 5 * time.Minute
)

// Authority signs Forewarm's certificates.
type Authority interface {
	// CurrentCABundleContent is by what they are verified, in PEM; none while it is unknown.
	CurrentCABundleContent() []byte
	// Subscribe notifies of changes until the context ends.
	Subscribe(ctx context.Context, signal changes.Signal)
}

// Trust keeps the certificates that the kube-apiserver verifies Forewarm by in the APIServices that lead here, until the context
// ends. Only the leader should call it.
func (w *Watch) Trust(ctx context.Context, clock changes.Clock, by Authority) {
	changed, said := changes.NewSignal(), ""
	w.changed.Subscribe(ctx, changed)
	by.Subscribe(ctx, changed)
	verifyAll := clock.Now().Add(unverifiedGrace)
	for ctx.Err() == nil {
		now, next := clock.Now(), verifyAll
		all := !now.Before(verifyAll)
		if all {
			next = now.Add(unverifiedGrace) // Nothing is due any more: changes are notified.
		}
		err := w.writeTrust(ctx, by.CurrentCABundleContent(), all)
		if err != nil && ctx.Err() == nil {
			if said != err.Error() {
				said = err.Error()
				w.log.ErrorContext(ctx, "the kube-apiserver cannot verify Forewarm", "error", err)
			}
			next = now.Add(trustRetry)
		}
		changed.Wait(ctx, clock, next)
	}
}

// writeTrust writes the certificates where they are not; with all also into APIServices that are not verified.
func (w *Watch) writeTrust(ctx context.Context, bundle []byte, all bool) error {
	if len(bundle) == 0 {
		return nil
	}
	text := base64.StdEncoding.EncodeToString(bundle)
	for _, item := range w.informer.GetStore().List() {
		object, ok := item.(*unstructured.Unstructured)
		if !ok || !w.leadsHere(object) {
			continue
		}
		spec, _, err := unstructured.NestedMap(object.Object, "spec")
		if err != nil {
			return fmt.Errorf("read the spec of APIService %s: %w", object.GetName(), err)
		}
		if unverified := spec[insecure] == true; unverified && !all || !unverified && spec[caBundle] == text {
			continue
		}
		if err := w.patchTrust(ctx, object, text); err != nil {
			return fmt.Errorf("write the certificates of APIService %s: %w", object.GetName(), err)
		}
	}
	return nil
}

// patchTrust writes a bundle in the version that was seen, so that an APIService that has moved since is not written to.
func (w *Watch) patchTrust(ctx context.Context, object *unstructured.Unstructured, bundle string) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": object.GetResourceVersion()},
		"spec":     map[string]any{caBundle: bundle, insecure: false},
	})
	if err != nil {
		return fmt.Errorf("encode them: %w", err)
	}
	_, err = w.client.Patch(ctx, object.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	switch {
	case apierrors.IsConflict(err) || apierrors.IsNotFound(err):
		return nil // The watch tells what it is now.
	case apierrors.IsForbidden(err):
		return fmt.Errorf("apply deploy/rbac: %w", err)
	case err != nil:
		return err
	}
	w.log.InfoContext(
		ctx,
		"wrote the certificates by which the kube-apiserver verifies Forewarm",
		"apiservice",
		object.GetName(),
	)
	return nil
}

// leadsHere reports whether an APIService is of a group of Forewarm's and leads to this one's service.
func (w *Watch) leadsHere(object *unstructured.Unstructured) bool {
	group, namespace, name := groupAndService(object)
	return slices.Contains(groups(), group) && Service(namespace+"/"+name) == w.own
}
