#include "core/db/postgres_error.hpp"

#include <algorithm>

namespace dash::db {

Error database_unavailable(std::string detail) {
  auto error = busy(kDatabaseRetryAfter, "the database does not answer; try again shortly");
  error.detail = std::move(detail);
  return error;
}

Error error_of_state(std::string_view state) {
  if (state.starts_with("08") || state.starts_with("57P") || state == "53300")
    return database_unavailable("");
  if (state == "57014" || state == "55P03" || state == "40001" || state == "40P01" || state == "25P03")
    return busy(kDatabaseRetryAfter, "the database is busy; try again shortly");
  if (state.starts_with("23")) return make_error(Code::conflict, "it exists already");
  if (state == "53100") return make_error(Code::busy, "the database's disk is full; nothing was written");
  if (state == "25006" || state == "42501")
    return make_error(Code::busy, "the database takes no writes; check its mode and the rights of its user");
  if (state == "22021")
    return make_error(Code::invalid, "a text is not UTF-8, which the database cannot keep");
  return make_error(Code::internal, "the database failed; the log has the reason");
}

Result<void> check_no_nul(const Params& params) {
  for (const auto& value : params)
    if (auto* text = std::get_if<std::string>(&value); text && text->find('\0') != text->npos)
      return fail(Code::invalid,
                  "a text holds a NUL character, which the database cannot keep; leave it out");
  return {};
}

std::string hosts_of(const std::string& url) {
  auto begin = url.find("://") + 3;
  auto end = std::min(url.find_first_of("/?", begin), url.size());
  auto at = url.rfind('@', end);
  if (at != url.npos && at >= begin) begin = at + 1;
  return "postgres://" + url.substr(begin, end - begin);
}

}  // namespace dash::db
