package kubelet

import "strings"

// kinds are what the UUIDs of devices begin with.
func kinds() [2]string { return [2]string{"GPU-", "MIG-"} }

// uuidLength is that of GPU-5f3c1a2b-8d21-4c3e-9a77-0123456789ab.
const uuidLength = len("GPU-") + 36

// lastUUID is the UUID that a name ends with.
func lastUUID(name string) string {
	start := len(name) - uuidLength
	if start < 0 || (start > 0 && name[start-1] != '=' && name[start-1] != '-') {
		return ""
	}
	return asUUID(name[start:])
}

// asUUID is a device's UUID as the driver writes it, and nothing for what is none. Names in Kubernetes have no capitals.
func asUUID(s string) string {
	if len(s) != uuidLength {
		return ""
	}
	for _, kind := range kinds() {
		if uuid := strings.ToLower(s[len(kind):]); strings.EqualFold(s[:len(kind)], kind) && isUUID(uuid) {
			return kind + uuid
		}
	}
	return ""
}

// isUUID says whether s is written 8-4-4-4-12 in small hexadecimal digits.
func isUUID(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case (c < '0' || c > '9') && (c < 'a' || c > 'f'):
			return false
		}
	}
	return true
}
