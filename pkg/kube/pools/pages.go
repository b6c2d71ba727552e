package pools

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/pager"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// listPage bounds the objects of one answer: tenants can make them large.
const listPage = 50

// eachItem calls do for each object of a list. One page of them is in memory at a time.
func eachItem(
	ctx context.Context,
	list func(metav1.ListOptions) (runtime.Object, error),
	options metav1.ListOptions,
	do func(runtime.Object),
) error {
	pages := pager.New(pager.SimplePageFunc(list))
	pages.PageSize, pages.PageBufferSize, pages.FullListIfExpired = listPage, 0, false
	return pages.EachListItem(ctx, options, func(object runtime.Object) error { //nolint:wrapcheck // The caller does.
		do(object)
		return nil
	})
}

// eachPod calls do for each pod of the pool's namespace that a selector selects.
func eachPod(
	ctx context.Context, pods corev1client.PodsGetter, pool *v1alpha1.WarmPool, selector string, do func(*corev1.Pod),
) error {
	list := func(o metav1.ListOptions) (runtime.Object, error) { return pods.Pods(pool.Namespace).List(ctx, o) }
	err := eachItem(ctx, list, metav1.ListOptions{LabelSelector: selector}, func(object runtime.Object) {
		if pod, is := object.(*corev1.Pod); is {
			do(pod)
		}
	})
	if err != nil {
		return listPodsError(pool, err)
	}
	return nil
}
