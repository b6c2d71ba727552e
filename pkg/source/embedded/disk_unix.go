//go:build !windows

package embedded

import (
	"fmt"
	"syscall"
)

// freeSpace is the free space on the disk of a directory.
func freeSpace(dir string) (int64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	//nolint:unconvert // The types differ on other systems.
	return int64(disk.Bavail) * int64(disk.Bsize), nil
}
