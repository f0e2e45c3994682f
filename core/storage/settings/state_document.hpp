// The JSON of a state, as Terraform and OpenTofu write it (version 4). Pure. The input comes from a store, so
// every shape is checked.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.hpp"

namespace dash::storage {

struct StateResource {
  std::string address;
  std::string type;
};

// Never contains the value of an attribute.
struct StateDocument {
  std::int64_t serial = 0;
  std::string lineage;
  std::vector<StateResource> resources;  // one for each instance
  OrderedJson outputs;                   // an object; null for a sensitive one
};

// Returns nullopt for text that is no state.
std::optional<StateDocument> parse_state(std::string_view text);

// How a state stands to one that a copy would replace.
enum class StateRelation { same_bytes, older, newer_or_other };

// Returns what `target` is to `source`: older means the same lineage and a lower serial. A target without
// bytes is older than any state.
StateRelation relation_of(std::string_view source, std::string_view target);
// Returns the reason, for a relation of newer_or_other: "its serial is 7, and that of the copy is 5".
std::string conflict_text(std::string_view source, std::string_view target);

}  // namespace dash::storage
