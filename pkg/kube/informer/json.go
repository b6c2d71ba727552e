package informer

import (
	"bytes"
	"errors"
	"io"
	"reflect"
)

var errNoJSON = errors.New("the API server's answer is not JSON")

// inside is an error in the middle of a value, where the end of the stream is one.
func inside(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// next skips white space, and returns the next byte without reading it.
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

// members passes on an object without the members that a function does not keep. The function passes on the value of a member
// that it keeps, and leaves the others.
func (s *slimBody) members(keep func(key string) (bool, error)) error {
	if first, err := s.next(); err != nil || first != '{' {
		return s.value(maxSpec) // It is null.
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

// member passes on a key and its value, and reports whether they are kept; if not, what was passed on is to be removed.
func (s *slimBody) member(keep func(key string) (bool, error)) (kept bool, err error) {
	begin := s.out.Len()
	size, err := s.copyValue(maxKey)
	if err != nil {
		return false, err
	}
	key := "" // One that is too long, and that nothing keeps.
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

// list passes on the objects of a list.
func (s *slimBody) list() error {
	if first, err := s.next(); err != nil || first != '[' {
		return s.value(maxSpec) // It is null.
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

// value passes on a value, null where it is larger than a limit.
func (s *slimBody) value(limit int) error {
	return s.bounded(limit, func(int64) string { return "null" })
}

// bounded passes on a value, or what stands for it where it is larger than a limit. It never holds more than the limit.
func (s *slimBody) bounded(limit int, instead func(size int64) string) error {
	begin := s.out.Len()
	size, err := s.copyValue(limit)
	if err == nil && size > int64(limit) {
		s.out.Truncate(begin)
		s.out.WriteString(instead(size))
	}
	return err
}

// copyValue passes on the first bytes of a value, and returns how many it has.
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

// scan returns how many bytes of a chunk belong to the value, and whether it ends with them.
func (v *valueScanner) scan(chunk []byte) (n int, ends bool) {
	for i, c := range chunk {
		switch {
		case v.quoted:
			if v.quote(c) && v.depth == 0 {
				return i + 1, true
			}
		case c == '"':
			v.quoted = true
		case v.depth == 0 && bytes.IndexByte([]byte(",:]} \t\r\n"), c) >= 0: // It follows the value.
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

// quote scans a byte of a string, and reports whether the string ends with it.
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
	default: // It has no parts.
	}
	return size
}
