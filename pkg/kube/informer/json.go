package informer

import (
	"bytes"
	"errors"
	"io"
	"reflect"
)

var errNoJSON = errors.New("the API server's answer is not JSON")

// inside converts the end of the stream within a value to an unexpected end.
func inside(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// next skips white space, and returns the next byte without consuming it.
func (s *slimBody) next() (byte, error) {
	for {
		c, err := s.in.Peek(1)
		if err != nil {
			return 0, err
		}
		switch c[0] {
		case ' ', '\t', '\r', '\n':
			s.skipByte()
		default:
			return c[0], nil
		}
	}
}

func (s *slimBody) skipByte() { _, _ = s.in.Discard(1) } //nolint:errcheck // It was peeked at.

func (s *slimBody) copyByte(c byte) {
	s.out.WriteByte(c)
	s.skipByte()
}

// members copies an object without the members that keep rejects. If keep accepts a member, it copies the value; otherwise it leaves the
// value unread.
func (s *slimBody) members(keep func(key string) (bool, error)) error {
	if first, err := s.next(); err != nil || first != '{' {
		return s.value(maxSpec) // The value is null.
	}
	s.copyByte('{')
	for first := true; ; {
		c, err := s.next()
		switch {
		case err != nil:
			return err
		case c == '}':
			s.copyByte(c)
			return nil
		case c == ',':
			s.skipByte()
			continue
		case c != '"':
			return errNoJSON
		}
		before := s.out.Len()
		if !first {
			s.out.WriteByte(',')
		}
		kept, err := s.member(keep)
		if err != nil {
			return err
		}
		if first = first && !kept; !kept {
			s.out.Truncate(before)
		}
	}
}

// member copies a key and its value, and reports whether they are kept. If they are not, the caller must remove what was copied.
func (s *slimBody) member(keep func(key string) (bool, error)) (kept bool, err error) {
	begin := s.out.Len()
	size, err := s.copyValue(maxKey)
	if err != nil {
		return false, err
	}
	key := "" // The key is too long, so no caller keeps it.
	if size <= maxKey {
		key = string(bytes.Trim(s.out.Bytes()[begin:], `"`))
	}
	c, err := s.next()
	switch {
	case err != nil:
		return false, err
	case c != ':':
		return false, errNoJSON
	}
	s.copyByte(':')
	if kept, err = keep(key); err == nil && !kept {
		_, err = s.copyValue(0)
	}
	return kept, err
}

// list copies the objects of a list.
func (s *slimBody) list() error {
	if first, err := s.next(); err != nil || first != '[' {
		return s.value(maxSpec) // The value is null.
	}
	s.copyByte('[')
	for {
		c, err := s.next()
		switch {
		case err != nil:
			return err
		case c == ']':
			s.copyByte(c)
			return nil
		case c == ',':
			s.copyByte(c)
		default:
			if err := s.members(s.object); err != nil {
				return err
			}
		}
	}
}

// value copies a value, or writes null if the value is larger than a limit.
func (s *slimBody) value(limit int) error {
	return s.bounded(limit, func(int64) string { return "null" })
}

// bounded copies a value, or writes a replacement if the value is larger than a limit. It never buffers more than the limit.
func (s *slimBody) bounded(limit int, instead func(size int64) string) error {
	begin := s.out.Len()
	size, err := s.copyValue(limit)
	if err == nil && size > int64(limit) {
		s.out.Truncate(begin)
		s.out.WriteString(instead(size))
	}
	return err
}

// copyValue copies a value up to a limit, and returns the size of the value.
func (s *slimBody) copyValue(limit int) (size int64, err error) {
	if _, err := s.next(); err != nil {
		return 0, err
	}
	for v := (valueScanner{}); ; {
		chunk, err := s.in.Peek(max(1, s.in.Buffered()))
		if len(chunk) == 0 {
			return size, err
		}
		n, ends := v.scan(chunk)
		if room := int64(limit) - size; room > 0 {
			s.out.Write(chunk[:min(int64(n), room)])
		}
		size += int64(n)
		if _, err := s.in.Discard(n); err != nil {
			return size, err
		}
		if ends {
			if size == 0 {
				return 0, errNoJSON
			}
			return size, nil
		}
	}
}

// valueScanner finds the end of a JSON value.
type valueScanner struct {
	depth           int
	quoted, escaped bool
}

// scan returns how many bytes of a chunk belong to the value, and whether the value ends with them.
func (v *valueScanner) scan(chunk []byte) (n int, ends bool) {
	for i, c := range chunk {
		switch {
		case v.quoted:
			if v.quote(c) && v.depth == 0 {
				return i + 1, true
			}
		case c == '"':
			v.quoted = true
		case v.depth == 0 && bytes.IndexByte([]byte(",:]} \t\r\n"), c) >= 0: // The byte follows the value.
			return i, true
		case c == '{' || c == '[':
			v.depth++
		case c == '}' || c == ']':
			v.depth--
			if v.depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(chunk), false
}

// quote scans one byte of a string, and reports whether the string ends with it.
func (v *valueScanner) quote(c byte) (ends bool) {
	switch {
	case v.escaped:
		v.escaped = false
	case c == '\\':
		v.escaped = true
	case c == '"':
		v.quoted = false
		return true
	}
	return false
}

// SizeOf returns how many bytes a value takes in memory, with what it points to. JSON of a few bytes may take a thousand times as
// much: an empty container of a pod is two bytes of it.
func SizeOf(value any) int { return sizeOfValue(reflect.ValueOf(&value)) }

func sizeOfValue(v reflect.Value) int {
	size := int(v.Type().Size())
	switch v.Kind() {
	case reflect.String:
		size += v.Len()
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			size += sizeOfValue(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			size += sizeOfValue(v.Index(i))
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			size += sizeOfValue(entries.Key()) + sizeOfValue(entries.Value())
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			size += sizeOfValue(field) - int(field.Type().Size())
		}
	default: // The value has no parts.
	}
	return size
}
