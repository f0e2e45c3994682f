#include "core/storage/store/cursor.hpp"

namespace dash::storage {

Result<void> advance_cursor(std::string& cursor, std::string next) {
  if (!next.empty() && next == cursor)
    return fail(Code::upstream, "the store's list does not go on: it names the same page again");
  cursor = std::move(next);
  return {};
}

}  // namespace dash::storage
