package keda

import (
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/forewarm/forewarm/pkg/decide"
	"github.com/forewarm/forewarm/pkg/snapshot"
)

// refuse says why a Forecast has no value: a selection of what does not exist is the trigger's fault, all else is ours
// and may pass.
func refuse(key snapshot.Key, err error) error {
	code := codes.Unavailable
	if errors.Is(err, decide.ErrSelection) {
		code = codes.InvalidArgument
	}
	return status.Errorf(code, "forecast %s: %v", key, err)
}

func noData() error {
	return status.Error(codes.Unavailable, "forewarm has no data yet: its first refresh is under way")
}

func notFound(key snapshot.Key) error {
	return status.Errorf(codes.NotFound,
		"there is no forecast %s in namespace %s, see kubectl get forecasts -n %[2]s", key.Name, key.Namespace)
}

func unknownMetric(name, own string) error {
	return status.Errorf(codes.InvalidArgument, "metric %.64q: this trigger has one only, %q", name, own)
}
