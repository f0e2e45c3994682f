#include "core/migrate/undo.hpp"

#include <algorithm>

#include "core/config/masking.hpp"
#include "core/config/registry.hpp"
#include "core/migrate/region_diff.hpp"

namespace dash::migrate {
namespace {

enum class SetState { restorable, absent, malformed };

class UndoCounter {
 public:
  UndoCounter(const Diff& diff, const ApplyResult& applied) : diff_(diff), applied_(applied) {}

  UndoLimits run() {
    for (const auto& row : diff_.rows)
      if (row.category != Category::same && !is_webhook(row) &&
          !applied_.write_result.refused.contains(row.key))
        count(row);
    return std::move(out_);
  }

 private:
  void count(const DiffRow& row) {
    if (auto cloud = cloud_of(row.key)) return count_region(*cloud, row);
    const auto* theirs = diff_.target.find(row.key);
    if (!theirs)
      ++out_.added;
    else if (config::is_masked(*theirs))
      ++out_.masked;
  }

  // The snapshot's region sets replace the current ones.
  void count_region(const std::string& cloud, const DiffRow& row) {
    const auto* theirs = diff_.target.find(row.key);
    auto state = state_of(cloud);
    if (state == SetState::absent) ++out_.added;
    if (state == SetState::malformed) {
      auto key = config::region_blob_key(cloud);
      if (std::ranges::find(out_.malformed, key) == out_.malformed.end()) out_.malformed.push_back(key);
    }
    if (theirs && theirs->find(config::kMask) != std::string::npos) ++out_.masked;
  }

  SetState state_of(const std::string& cloud) const {
    const auto& values = diff_.target.config().values;
    auto text = values.find(config::region_blob_key(cloud));
    if (text == values.end()) return SetState::absent;
    auto map = config::parse_region_blob(cloud, text->second);
    if (!map) return SetState::malformed;
    auto snapshot = replace_regions(cloud, *map, {}, diff_.target.config().is_peer);
    return snapshot.sent.empty() ? SetState::absent : SetState::restorable;
  }

  static bool is_webhook(const DiffRow& row) {
    return row.key.starts_with(fmt::format("{}.", kWebhooksName));
  }

  static std::optional<std::string> cloud_of(const std::string& key) {
    if (auto parts = config::split_region_key(key)) return parts->cloud;
    return config::cloud_of_region_blob(key);
  }

  const Diff& diff_;
  const ApplyResult& applied_;
  UndoLimits out_;
};

std::string counted(std::size_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

}  // namespace

UndoLimits undo_limits(const Diff& diff, const ApplyResult& applied) {
  return UndoCounter(diff, applied).run();
}

std::string to_text(const UndoLimits& limits) {
  std::vector<std::string> parts;
  if (limits.added > 0) parts.push_back("remove " + counted(limits.added, "added key"));
  if (limits.masked > 0) parts.push_back("bring back the values of " + counted(limits.masked, "masked key"));
  if (!limits.malformed.empty())
    parts.push_back(
        fmt::format("bring back {}, which no bundle can hold", fmt::join(limits.malformed, ", ")));
  return fmt::format("{}", fmt::join(parts, ", nor "));
}

}  // namespace dash::migrate
