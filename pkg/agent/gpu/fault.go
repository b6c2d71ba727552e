package gpu

// Fault is why a GPU, or all of them, could not be read: a word for a metric's label and a sentence for people.
type Fault struct {
	// Reason is one of those below.
	Reason string `json:"reason"`
	// Message is what failed, and what to do about it.
	Message string `json:"message"`
}

const (
	// LibraryMissing: the driver's library is missing. A container gets it when it is created, not later.
	LibraryMissing = "LibraryMissing"
	// DriverNotLoaded: the kernel has no driver, as while it is being replaced.
	DriverNotLoaded = "DriverNotLoaded"
	// DriverMismatch: the library has another version than the kernel's driver, as in a container that is older than an
	// upgrade of the driver.
	DriverMismatch = "DriverMismatch"
	// OffTheBus: a device no longer answers, or is no longer listed.
	OffTheBus = "OffTheBus"
	// ResetRequired: a device needs a reset.
	ResetRequired = "ResetRequired"
	// NoPermission: the driver does not answer this user or container.
	NoPermission = "NoPermission"
	// Unknown is any other error; the message has the driver's own.
	Unknown = "Unknown"
)

// NeedsNewContainer reports whether a fault lasts as long as this container: the driver's library was mounted when the
// container was created.
func (f *Fault) NeedsNewContainer() bool {
	return f != nil && (f.Reason == LibraryMissing || f.Reason == DriverMismatch)
}
