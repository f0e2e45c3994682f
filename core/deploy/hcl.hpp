// Reads the variables that a file of an infrastructure program declares. It knows as much of HCL as it needs to
// find top-level blocks: comments, strings with templates, here documents and braces. Pure.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace dash::deploy {

struct Variable {
  bool has_default = false;
  bool is_sensitive = false;
  bool operator==(const Variable&) const = default;
};
using Variables = std::map<std::string, Variable>;

// Adds the variables of another file, which may declare parts of the same ones (*_override.tf).
void merge_variables(Variables& into, const Variables& more);

// Returns each top-level `variable` block. Code::invalid for a text that ends inside of a
// string, a comment, a here document or a block.
Result<Variables> hcl_variables(std::string_view text);
// The same of a file in HCL's JSON syntax (*.tf.json).
Result<Variables> json_variables(std::string_view text);

}  // namespace dash::deploy
