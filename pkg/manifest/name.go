package manifest

import (
	"fmt"
	"regexp"
	"strings"
)

var unfit = regexp.MustCompile(`[^a-z0-9-]+`)

// FreeName turns words into the name of an object that is not taken. It is empty where the words have no letter or digit of ASCII.
func FreeName(words string, taken func(name string) bool) string {
	const longest = 57 // A number may follow, and KEDA's triggers take 63 characters.
	base := strings.Trim(unfit.ReplaceAllString(strings.ToLower(words), "-"), "-")
	base = strings.Trim(base[:min(len(base), longest)], "-")
	name := base
	for n := 2; taken(name); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name
}
