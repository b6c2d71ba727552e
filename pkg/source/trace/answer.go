package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// answerColumn is the name of the one column that the answer of a Prometheus has.
const answerColumn = "value"

// readAnswer reads the answer to a range query, whole or its result alone, as promtool prints it.
func (s *samples) readAnswer(from io.Reader) error {
	text, err := io.ReadAll(from)
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	var answer struct {
		Error string `json:"error"`
		Data  struct {
			Result json.RawMessage `json:"result"`
		} `json:"data"`
	}
	result := text
	if bytes.TrimSpace(text)[0] == '{' {
		if err := json.Unmarshal(text, &answer); err != nil {
			return fmt.Errorf("trace: the JSON is no answer of a Prometheus: %w", err)
		}
		if answer.Error != "" {
			return fmt.Errorf("trace: the Prometheus answered with an error: %.200q", answer.Error)
		}
		result = answer.Data.Result
	}
	var all []json.RawMessage
	if err := json.Unmarshal(result, &all); err != nil {
		return errors.New("trace: the JSON has no list data.result, want the answer to /api/v1/query_range")
	}
	if len(all) != 1 {
		return fmt.Errorf("trace: the answer has %d series, want one: aggregate the query to its total, as in sum(…)", len(all))
	}
	var series struct {
		Values json.RawMessage `json:"values"`
	}
	if err := json.Unmarshal(all[0], &series); err != nil || len(series.Values) == 0 {
		return errors.New("trace: the series of the answer has no values, want the answer to a range query of numbers " +
			"(/api/v1/query_range, or a query such as load[14d])")
	}
	return s.readPairs(series.Values)
}

// readPairs reads [[seconds, "value"], …], one pair after the other: what is hostile ends at the limit of rows.
func (s *samples) readPairs(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if begin, err := decoder.Token(); err != nil || begin != json.Delim('[') {
		return errors.New("trace: the values of the answer are no list")
	}
	for line := 1; decoder.More(); line++ {
		var pair [2]json.RawMessage
		if err := decoder.Decode(&pair); err != nil || pair[1] == nil {
			return fmt.Errorf("trace: sample %d is no pair of a time and a value", line)
		}
		value := string(pair[1])
		if text, err := strconv.Unquote(value); err == nil {
			value = text
		}
		if err := s.add(line, string(pair[0]), value); err != nil {
			return err
		}
	}
	return nil
}
