package embedded

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// freeSpace is the free space on the disk of a directory.
func freeSpace(dir string) (int64, error) {
	path, err := windows.UTF16PtrFromString(dir)
	var free uint64
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(path, &free, nil, nil)
	}
	if err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return int64(min(free, 1<<62)), nil //nolint:gosec // It is bounded.
}
