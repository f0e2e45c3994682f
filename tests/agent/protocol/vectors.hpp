// The published vectors of the agent's protocol, made by a deployed agent's own code.
#pragma once
#include <string>

#include "core/base/file.hpp"
#include "core/base/json.hpp"
#include "core/crypto/hash.hpp"
#include "tests/support/must.hpp"

namespace dash::agent {

inline const Json& vectors() {
  static const Json document =
      must(parse_json(must(read_file(DASH_TESTDATA "/agent/vectors.json", 1 << 22))));
  return document;
}

// What a deployed agent did with policy files and answers to its lease, and its identity.json.
inline const Json& agent_behaviour() {
  static const Json document =
      must(parse_json(must(read_file(DASH_TESTDATA "/agent/behaviour.json", 1 << 22))));
  return document;
}

inline std::string hex_bytes(const Json& text) { return *crypto::from_hex(text.get<std::string>()); }

}  // namespace dash::agent
