package inspect

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// listPage makes the outlooks of the entries that the options select, up to the limit. It makes no other outlooks.
func listPage(
	entries []*snapshot.ForecastSnapshot, options *internalversion.ListOptions, now time.Time,
) (*v1alpha1.OutlookList, error) {
	after, err := readContinue(options.Continue)
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e *snapshot.ForecastSnapshot) bool {
		own := func() labels.Set { return objectMeta(e, now).Labels }
		return !isAfter(after, e.Key) || !matchesSelectors(options, e.Key, own)
	})
	list := &v1alpha1.OutlookList{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: v1alpha1.Kind + "List"},
	}
	if limit := options.Limit; limit > 0 && limit < int64(len(entries)) {
		rest := int64(len(entries)) - limit
		entries = entries[:limit]
		list.Continue = writeContinue(entries[limit-1].Key)
		list.RemainingItemCount = &rest
	}
	list.Items = make([]v1alpha1.Outlook, len(entries))
	for i, e := range entries {
		list.Items[i] = Outlook(brief(e), now) // Otherwise a list of many Forecasts would be long.
	}
	return list, nil
}

// matchesSelectors reports whether the options select an object with these labels.
func matchesSelectors(options *internalversion.ListOptions, key snapshot.Key, own func() labels.Set) bool {
	if s := options.LabelSelector; s != nil && !s.Empty() && !s.Matches(own()) {
		return false
	}
	s := options.FieldSelector
	return s == nil || s.Empty() ||
		s.Matches(fields.Set{"metadata.name": key.Name, "metadata.namespace": key.Namespace})
}

// isAfter reports whether a key comes after the last key of the previous page.
func isAfter(after, key snapshot.Key) bool {
	return cmp.Or(cmp.Compare(key.Namespace, after.Namespace), cmp.Compare(key.Name, after.Name)) > 0
}

// writeContinue returns a continue token. It is the last key of the previous page, so that it stays valid after a refresh and after a
// restart.
func writeContinue(key snapshot.Key) string {
	return base64.RawURLEncoding.EncodeToString([]byte(key.String()))
}

func readContinue(token string) (snapshot.Key, error) {
	if token == "" {
		return snapshot.Key{}, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(token)
	namespace, name, found := strings.Cut(string(text), "/")
	if err != nil || !found {
		return snapshot.Key{}, apierrors.NewBadRequest(
			fmt.Sprintf("continue token %.64q is not valid: list again without it", token))
	}
	return snapshot.Key{Namespace: namespace, Name: name}, nil
}
