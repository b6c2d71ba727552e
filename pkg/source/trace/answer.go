package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// answerColumn is the name of the one column that the answer of a Prometheus has.
const answerColumn = "value"

// readAnswer reads the answer to a range query, whole or its result alone, as promtool prints it. Its values are read one after
// the other: what is hostile ends at the limit of rows.
func (s *samples) readAnswer(from io.Reader) error {
	text, err := io.ReadAll(from)
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	type (
		rows struct {
			Values json.RawMessage `json:"values"`
		}
		data struct {
			Result []rows `json:"result"`
		}
	)
	var answer struct {
		Error string `json:"error"`
		Data  data   `json:"data"`
	}
	if bytes.TrimSpace(text)[0] == '{' {
		err = json.Unmarshal(text, &answer)
	} else {
		err = json.Unmarshal(text, &answer.Data.Result)
	}
	const want = "want the answer to /api/v1/query_range with one series, as of sum(…)"
	switch result := answer.Data.Result; {
	case err != nil:
		return fmt.Errorf("trace: the JSON is no answer of a Prometheus: %w: %s", err, want)
	case answer.Error != "":
		return fmt.Errorf("trace: the Prometheus answered with an error: %.200q", answer.Error)
	case len(result) != 1:
		return fmt.Errorf("trace: the answer has %d series, %s", len(result), want)
	}
	decoder := json.NewDecoder(bytes.NewReader(answer.Data.Result[0].Values))
	if begin, err := decoder.Token(); err != nil || begin != json.Delim('[') {
		return fmt.Errorf("trace: the series has no list of values, %s", want)
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
