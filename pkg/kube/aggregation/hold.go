package aggregation

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/run"
)

// Fields of an APIService's spec that say how the kube-apiserver verifies the server.
const (
	caBundle = "caBundle"
	insecure = "insecureSkipTLSVerify"
)

const (
	// holdRetry is the pause after a write that failed.
	holdRetry = 5 * time.Second
	// holdPeriod is the time until the next step if nothing changes. It is needed because a group must be free for some time before Forewarm
	// takes it.
	holdPeriod = 5 * time.Minute
)

// Bundler has the certificates by which Forewarm is verified.
type Bundler interface {
	// CurrentCABundleContent returns the bundle in PEM, or nothing while the bundle is unknown.
	CurrentCABundleContent() []byte
	// Subscribe notifies a signal of changes until the context ends.
	Subscribe(ctx context.Context, signal changes.Signal)
}

// HoldConfig says which groups Forewarm serves, and how their APIServices are verified.
type HoldConfig struct {
	// Modes by group.
	Modes map[string]Mode
	// Owner is the ClusterRole with which Kubernetes deletes the APIServices.
	Owner string
	// Port of Forewarm's Service.
	Port int
	// Grace is how long an APIService that the manifests of an older Forewarm left unverified stays unverified. Replicas of that version
	// serve until the rolling update is over, and their certificates cannot be verified.
	Grace time.Duration
	// Authority signs the certificates; nil means that the kube-apiserver verifies them by the authorities of its machine, or
	// by what others write into the APIServices.
	Authority Bundler
}

// Hold keeps the APIServices of the groups up to date until the context ends. It creates the missing ones, writes the certificates with
// which the kube-apiserver verifies Forewarm, gives up ownership of those that lead to another server, and deletes those of groups that
// Forewarm does not serve. It never takes a group from another server. Only the leader should call it, once it can serve.
func (w *Groups) Hold(ctx context.Context, clock run.Clock, config HoldConfig) {
	changed := changes.NewSignal()
	w.changed.Subscribe(ctx, changed)
	if config.Authority != nil {
		config.Authority.Subscribe(ctx, changed)
	}
	h := &holder{
		watch:       w,
		config:      config,
		verifyAll:   clock.Now().Add(config.Grace),
		heldByOther: map[string]bool{},
		vacated:     map[string]time.Time{},
	}
	for ctx.Err() == nil {
		changed.Wait(ctx, clock, h.step(ctx, clock.Now()))
	}
}

// holder has the state that only the leader needs.
type holder struct {
	watch     *Groups
	config    HoldConfig
	verifyAll time.Time
	// heldByOther has the groups that another server had at the last step. vacated has the groups that became free since, each with the latest
	// time at which another server may still have had it.
	heldByOther map[string]bool
	vacated     map[string]time.Time
	said        changes.LastError
}

// step makes the writes that are due, and returns when the next step is needed if nothing changes.
func (h *holder) step(ctx context.Context, now time.Time) (next time.Time) {
	next = now.Add(holdPeriod)
	if now.Before(h.verifyAll) {
		next = h.verifyAll
	}
	if h.watch.known() == nil {
		return next
	}
	s := h.situation(now)
	acts, problems := decide(&s)
	var failed []error
	for _, text := range problems {
		failed = append(failed, errors.New(text))
	}
	for _, a := range acts {
		if err := h.do(ctx, a, s.bundle); err != nil {
			failed = append(failed, fmt.Errorf("%s APIService %s: %w", a.verb, a.name, err))
			next = now.Add(holdRetry)
		}
	}
	if problem := errors.Join(failed...); h.said.IsNew(problem) && ctx.Err() == nil {
		h.watch.log.ErrorContext(
			ctx,
			"Forewarm does not serve all the API groups that it should serve",
			"error",
			problem,
		)
	}
	return next
}

func (h *holder) situation(now time.Time) situation {
	s := situation{
		own:       h.watch.own,
		modes:     h.config.Modes,
		owner:     h.config.Owner,
		trust:     true,
		verifyAll: !now.Before(h.verifyAll),
		vacant:    map[string]bool{},
	}
	for _, a := range h.watch.watch.List() {
		s.all = append(s.all, *a)
	}
	if h.config.Authority != nil {
		s.bundle = base64.StdEncoding.EncodeToString(h.config.Authority.CurrentCABundleContent())
		s.trust = s.bundle != ""
	}
	for _, group := range groups() {
		held := slices.ContainsFunc(s.all, func(a apiService) bool { return a.group == group })
		heldByOther := slices.ContainsFunc(
			s.all,
			func(a apiService) bool { return a.group == group && a.service != s.own },
		)
		switch {
		case held && !heldByOther:
			delete(h.vacated, group)
		case held || h.heldByOther[group]:
			h.vacated[group] = now
		}
		h.heldByOther[group] = heldByOther
		s.vacant[group] = now.Sub(h.vacated[group]) < vacancy
	}
	return s
}

// do makes one write to an APIService. Every write contains the resource version that the watch has seen. If the APIService has changed
// since, the API server rejects the write, and the watch reports the new state.
func (h *holder) do(ctx context.Context, a act, bundle string) error {
	err := h.write(ctx, a, bundle)
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err), apierrors.IsAlreadyExists(err):
		return nil
	case apierrors.IsForbidden(err):
		return fmt.Errorf("permission denied: apply deploy/default, or upgrade the chart: %w", err)
	case err != nil:
		return err
	}
	h.watch.log.InfoContext(ctx, "wrote an APIService", "apiservice", a.name, "did", a.verb, "reason", reasons[a.verb])
	return nil
}

// reasons has the reason for each kind of write, for the log.
var reasons = map[verb]string{ //nolint:gochecknoglobals // A constant table.
	register: "no other server served its group",
	remove:   "it led to Forewarm, but Forewarm does not serve its group",
	trust:    "the kube-apiserver now verifies Forewarm with these certificates",
	adopt:    "it leads to Forewarm, and will be deleted together with Forewarm",
	release:  "it leads to another server, and will not be deleted together with Forewarm",
}

func (h *holder) write(ctx context.Context, a act, bundle string) error {
	client := h.watch.client
	switch a.verb {
	case register:
		owner, err := h.owner(ctx)
		if err != nil {
			return err
		}
		_, err = client.Create(ctx, h.object(a, bundle, owner), metav1.CreateOptions{})
		return err
	case remove:
		return client.Delete(ctx, a.name,
			metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &a.of.version}})
	case trust:
		return h.patch(ctx, a, map[string]any{"spec": map[string]any{caBundle: bundle, insecure: false}})
	case adopt:
		owner, err := h.owner(ctx)
		if err != nil {
			return err
		}
		return h.patchOwners(ctx, a, append(slices.Clone(a.of.owners), owner))
	default:
		others := slices.DeleteFunc(slices.Clone(a.of.owners), func(o metav1.OwnerReference) bool {
			return isOwner(o, h.config.Owner)
		})
		return h.patchOwners(ctx, a, others)
	}
}

// owner returns a reference to the ClusterRole. If the ClusterRole does not exist, Forewarm is being uninstalled and creates nothing.
func (h *holder) owner(ctx context.Context) (metav1.OwnerReference, error) {
	role, err := h.watch.roles.Get(ctx, h.config.Owner, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return metav1.OwnerReference{}, fmt.Errorf(
			"its owner, the ClusterRole %s, does not exist: set --api-service-owner to the name of Forewarm's own ClusterRole",
			h.config.Owner,
		)
	case err != nil:
		return metav1.OwnerReference{}, fmt.Errorf("read its owner, the ClusterRole %s: %w", h.config.Owner, err)
	}
	return metav1.OwnerReference{
		APIVersion: ownerVersion,
		Kind:       ownerKind,
		Name:       role.GetName(),
		UID:        role.GetUID(),
	}, nil
}

// object returns a new APIService.
func (h *holder) object(a act, bundle string, owner metav1.OwnerReference) *unstructured.Unstructured {
	namespace, name, _ := split(h.watch.own)
	spec := map[string]any{
		"group": a.group, "version": a.name[:len(a.name)-len(a.group)-1],
		"groupPriorityMinimum": int64(priority), "versionPriority": int64(priority),
		"service": map[string]any{"namespace": namespace, "name": name, "port": int64(h.config.Port)},
	}
	if bundle != "" {
		spec[caBundle] = bundle
	}
	out := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	out.SetAPIVersion("apiregistration.k8s.io/v1")
	out.SetKind("APIService")
	out.SetName(a.name)
	out.SetLabels(map[string]string{
		"app.kubernetes.io/part-of": "forewarm", "app.kubernetes.io/managed-by": "forewarm",
	})
	out.SetOwnerReferences([]metav1.OwnerReference{owner})
	return out
}

// priority is the priority of the groups in discovery. Other metrics adapters use the same.
const priority = 100

// patchOwners replaces the owners of an APIService.
func (h *holder) patchOwners(ctx context.Context, a act, owners []metav1.OwnerReference) error {
	return h.patch(ctx, a, map[string]any{"metadata": map[string]any{"ownerReferences": owners}})
}

// patch patches an APIService, provided that it still has the version that was seen.
func (h *holder) patch(ctx context.Context, a act, fields map[string]any) error {
	metadata, ok := fields["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		fields["metadata"] = metadata
	}
	metadata["resourceVersion"] = a.of.version
	text, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("encode it: %w", err)
	}
	_, err = h.watch.client.Patch(ctx, a.name, types.MergePatchType, text, metav1.PatchOptions{})
	return err
}
