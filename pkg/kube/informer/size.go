package informer

import "reflect"

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
