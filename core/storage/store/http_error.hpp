// The one map from a store's HTTP status to a Code, so that all four clouds fail alike and retry.cpp can tell
// what passes from what does not. Called by the rooms of the clouds with the store's own error code.
#pragma once
#include <string_view>

#include "core/net/http/http_client.hpp"

namespace dash::storage {

struct StoreError {
  std::string code;     // the store's own word: "NoSuchKey"; may be empty
  std::string message;  // the store's own sentence; may be empty
};

// `where`: what was asked of whom, "obj_cloud1: reading 'x.yml'".
Error http_error(const net::HttpResponse& response, std::string_view where, const StoreError& refusal);

}  // namespace dash::storage
