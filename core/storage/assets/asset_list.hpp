// What is listed of a store: which of its objects are assets, a page at a time, and where a listing goes on.
// Called by assets.cpp.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/base/secret.hpp"
#include "core/storage/settings/stores.hpp"

namespace dash::storage {

// Returns the type by the name's extension, "other" for any other: another program may have placed the object.
std::string_view type_of(std::string_view name);
// Returns false for what no other call could name, and for the dashboard's own folders.
bool is_asset(const OpenBackend& at, std::string_view name);

struct NamedObject {
  std::string name;
  Object object;
};
struct NamedPage {
  std::vector<NamedObject> items;  // by name, byte order; may be empty before the last page
  std::string cursor;              // the store's own; "" after the last page
};
// Reads the page after the store's own cursor; "" is the first.
Result<NamedPage> read_page(const OpenBackend& at, const std::string& cursor);

// A store trusts its cursor, so a client holds it sealed (base64url): good for this backend, bucket and prefix,
// on any replica. "" stays "".
std::string seal_cursor(const Secret& key, const OpenBackend& at, const std::string& cursor);
// Code::invalid for a text that seal_cursor() did not return for the same listing.
Result<std::string> open_cursor(const Secret& key, const OpenBackend& at, std::string_view text);

}  // namespace dash::storage
