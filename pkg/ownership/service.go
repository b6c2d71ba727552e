package ownership

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Validate says what is wrong with a service's name.
func (s Service) Validate() error {
	namespace, name, ok := cut(s)
	if !ok || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1035Label(name)) > 0 {
		return fmt.Errorf("%.100q is no service, write NAMESPACE/NAME, for example forewarm-system/forewarm", string(s))
	}
	return nil
}

func cut(s Service) (namespace, name string, ok bool) { return strings.Cut(string(s), "/") }
