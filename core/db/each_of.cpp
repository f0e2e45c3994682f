#include "core/db/each_of.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dash::db {
namespace {

constexpr std::size_t kMaxValues = 500;  // parameters of one statement

}  // namespace

Result<void> each_of(Transaction& tx, std::string_view sql, const Params& params,
                     std::span<const std::string> values,
                     const std::function<Result<void>(const Row&)>& row) {
  while (!values.empty()) {
    auto some = values.first(std::min(values.size(), kMaxValues));
    values = values.subspan(some.size());
    auto all = params;
    std::string places;
    for (const auto& value : some) {
      all.emplace_back(value);
      places += fmt::format("{}${}", places.empty() ? "" : ", ", all.size());
    }
    TRY(tx.each(fmt::format(fmt::runtime(sql), places), std::move(all), row));
  }
  return {};
}

}  // namespace dash::db
