package aggregation

import "fmt"

// Mode says whether Forewarm serves an API group and makes its APIService. It is a value of pflag.
type Mode string //nolint:recvcheck // Only Set changes it.

const (
	// Auto serves a group and takes it where nobody holds it.
	Auto Mode = "auto"
	// Required is Auto, but another holder is an error.
	Required Mode = "true"
	// Off does not serve a group, and gives it back.
	Off Mode = "false"
)

// Served reports whether Forewarm serves the group.
func (m Mode) Served() bool { return m == Auto || m == Required }

// String implements pflag.Value.
func (m *Mode) String() string { return string(*m) }

// Set implements pflag.Value.
func (m *Mode) Set(text string) error {
	switch mode := Mode(text); mode {
	case Auto, Required, Off:
		*m = mode
		return nil
	}
	return fmt.Errorf("%.40q: write auto, true or false", text)
}

// Type implements pflag.Value.
func (*Mode) Type() string { return "auto|true|false" }
