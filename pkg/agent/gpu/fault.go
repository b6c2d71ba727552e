package gpu

// Fault is why something could not be read, in a word for a metric's label and a sentence for people.
type Fault struct {
	// Reason is one of those below.
	Reason string `json:"reason"`
	// Message says what failed, and what to do about it where something can be done.
	Message string `json:"message"`
}

const (
	// LibraryMissing: the driver's library is not there. A container gets it when it is created, not later.
	LibraryMissing = "LibraryMissing"
	// DriverNotLoaded: the kernel has no driver, as while it is being replaced.
	DriverNotLoaded = "DriverNotLoaded"
	// DriverMismatch: the library is of another version than the kernel's driver, as after an upgrade of the driver in a
	// container that was there before.
	DriverMismatch = "DriverMismatch"
	// OffTheBus: a device does not answer any more, or is not listed any more.
	OffTheBus = "OffTheBus"
	// ResetRequired: a device waits for a reset.
	ResetRequired = "ResetRequired"
	// NoPermission: the driver refuses to answer this process.
	NoPermission = "NoPermission"
	// Unknown is everything else; the message has the driver's word for it.
	Unknown = "Unknown"
)

// NeedsNewContainer says whether a fault lasts for as long as this container does: what the driver's library is was settled
// when it was created.
func (f *Fault) NeedsNewContainer() bool {
	return f != nil && (f.Reason == LibraryMissing || f.Reason == DriverMismatch)
}
