package collect

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// LoadHour reads the hour that SaveHour wrote to a file; the zero Hour where there is no file yet.
func LoadHour(path string) (Hour, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Hour{}, nil
	}
	if err != nil {
		return Hour{}, err
	}
	hour, err := DecodeHour(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return Hour{}, fmt.Errorf("%s: %w", path, err)
	}
	return hour, nil
}

// SaveHour writes an hour to a file atomically: after a crash the file holds either this hour or the previous one.
func SaveHour(path string, hour Hour) (err error) {
	// A fixed name, so that an agent that is killed leaves at most one such file behind.
	file, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close(), os.Remove(file.Name()))
		}
	}()
	out := bufio.NewWriter(file)
	if err = EncodeHour(out, hour); err != nil {
		return err
	}
	if err = errors.Join(out.Flush(), file.Sync()); err != nil {
		return err
	}
	if err = os.Rename(file.Name(), path); err != nil {
		return err
	}
	return errors.Join(file.Close(), syncFolder(filepath.Dir(path)))
}

// syncFolder makes a rename durable.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
