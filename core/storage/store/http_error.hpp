// The one map from a store's HTTP status to a Code, so that all four clouds fail alike and retry.cpp
// recognises transient failures. The stores of the clouds pass their own error code.
#pragma once
#include <string_view>

#include "core/net/http/http_client.hpp"

namespace dash::storage {

struct StoreError {
  std::string code;     // of the store: "NoSuchKey"; may be empty
  std::string message;  // of the store; may be empty
};

// Makes the error of a response. `where` names backend and operation: "obj_cloud1: reading 'x.yml'".
Error http_error(const net::HttpResponse& response, std::string_view where, const StoreError& refusal);

}  // namespace dash::storage
