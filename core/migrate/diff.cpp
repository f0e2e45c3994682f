#include "core/migrate/diff.hpp"

#include <algorithm>

#include "core/config/regions.hpp"
#include "core/config/registry.hpp"
#include "core/migrate/region_diff.hpp"
#include "core/migrate/vault_check.hpp"
#include "core/migrate/webhook_diff.hpp"

namespace dash::migrate {
namespace {

constexpr std::size_t kProgressStep = 1000;

class Comparer {
 public:
  Comparer(const Bundle& bundle, const SelectedConfig& selected, Target& target, const DiffOptions& options,
           Progress& progress)
      : bundle_(bundle), selected_(selected), target_(target), options_(options), progress_(progress) {}

  Result<Diff> run() {
    out_.not_replaced = selected_.empty_region_sets;
    TargetValues target(TRY(target_.read()), options_.selection.replace_regions, out_.warnings);
    bool is_peer = target.config().is_peer;
    out_.rows.reserve(selected_.values.size());
    for (const auto& [key, value] : selected_.values) {
      if (auto cloud = config::cloud_of_region_blob(key))
        compare_region_set(*cloud, key, value, target, is_peer);
      else
        compare_key(key, value, target, is_peer);
      if (out_.rows.size() % kProgressStep == 0)
        progress_.update("comparing keys", out_.rows.size(), selected_.values.size());
    }
    out_.target = std::move(target);
    TRY(resolve_masked());
    if (!selected_.webhooks.empty())
      TRY(compare_webhooks(bundle_, selected_.webhooks, target_, options_.compare_blindly, out_));
    TRY(check_vaults(selected_.values, target_, out_.warnings));
    return std::move(out_);
  }

 private:
  void compare_key(const std::string& key, const std::string& value, const TargetValues& target,
                   bool is_peer) {
    if (is_peer && is_dropped_by_peer(key)) {
      out_.would_drop.push_back(key);
      return;
    }
    const auto* theirs = target.find(key);
    if (theirs && value.empty() && !theirs->empty() && !options_.selection.allow_empty_values) {
      out_.not_overwritten.push_back(key);
      return;
    }
    auto category = Category::same;
    if (!theirs) {
      category = Category::add;
    } else if (config::is_masked(*theirs)) {
      category = Category::unknown;
      masked_[key].emplace(key, value);
    } else if (*theirs != value) {
      category = Category::change;
    }
    add_row(key, value, category);
  }

  // Only with --regions replace: a merge compares field by field.
  void compare_region_set(const std::string& cloud, const std::string& key, const std::string& value,
                          const TargetValues& target, bool is_peer) {
    auto mine = config::parse_region_blob(cloud, value);
    if (!mine) return;  // select() wrote it
    const auto& theirs = target.regions(cloud);
    auto plan = replace_regions(cloud, *mine, theirs, is_peer);
    append(out_.would_drop, plan.would_drop);
    append(out_.masked, plan.masked);
    if (plan.sent.empty()) {
      out_.not_replaced.push_back(cloud);
      return;
    }
    append(out_.would_vanish, plan.would_vanish);
    append(out_.would_lose, plan.would_lose);
    config::Values hidden;
    auto category = compare_regions(cloud, plan.sent, theirs, hidden);
    if (!hidden.empty()) masked_[key] = std::move(hidden);
    auto [at, is_new] = out_.replaced_sets.emplace(key, config::write_region_blob(plan.sent));
    add_row(key, at->second, category);
  }

  void add_row(const std::string& key, const std::string& value, Category category) {
    auto print = options_.fingerprints ? fingerprint(bundle_, value) : std::string();
    out_.rows.push_back({key, category, code_points(value), std::move(print)});
  }

  static void append(std::vector<std::string>& into, const std::vector<std::string>& more) {
    into.insert(into.end(), more.begin(), more.end());
  }

  static bool is_dropped_by_peer(const std::string& key) {
    auto parts = config::split_region_key(key);
    return parts && !config::is_known_to_peer(*parts);
  }

  Result<void> resolve_masked() {
    if (masked_.empty() || !options_.compare_blindly) return {};
    config::Values all;
    for (const auto& [row, values] : masked_) all.insert(values.begin(), values.end());
    auto results = TRY(target_.compare(all));
    if (!results) return {};
    for (auto& row : out_.rows)
      if (auto hidden = masked_.find(row.key); hidden != masked_.end())
        row.category = category_of(row.key, hidden->second, *results);
    return {};
  }

  // A row of region sets is the same when each of its hidden fields is.
  static Category category_of(const std::string& row, const config::Values& hidden,
                              const std::map<std::string, setup::ValueMatch>& results) {
    auto category = Category::same;
    for (const auto& [key, value] : hidden) {
      auto match = results.find(key);
      if (match == results.end()) {
        category = Category::unknown;
      } else if (match->second != setup::ValueMatch::same) {
        return match->second == setup::ValueMatch::absent && key == row ? Category::add : Category::change;
      }
    }
    return category;
  }

  const Bundle& bundle_;
  const SelectedConfig& selected_;
  Target& target_;
  const DiffOptions& options_;
  Progress& progress_;
  std::map<std::string, config::Values> masked_;  // row → the values that the target hides
  Diff out_;
};

}  // namespace

TargetValues::TargetValues(InstanceConfig config, bool whole_sets, std::vector<std::string>& warnings)
    : config_(std::move(config)) {
  for (const auto& [key, value] : config_.values) {
    if (auto cloud = config::cloud_of_region_blob(key)) {
      auto map = config::parse_region_blob(*cloud, value);
      if (map) {
        config::merge_regions(sets_[*cloud], *map);
      } else {
        warnings.push_back(
            fmt::format("the target's {} is not a JSON object of regions and would be replaced", key));
      }
    } else if (auto parts = config::split_region_key(key)) {
      // A Python dashboard without a model for the cloud stores the field as a flat key.
      config::set_region_field(sets_[parts->cloud], *parts, value);
    }
  }
  for (const auto& [cloud, map] : sets_) {
    if (whole_sets) {
      set_values_[config::region_blob_key(cloud)] = config::write_region_blob(map);
      continue;
    }
    for (const auto& [region, fields] : map)
      for (const auto& [field, value] : fields) set_values_[config::region_key(cloud, region, field)] = value;
  }
}

const std::string* TargetValues::find(const std::string& key) const {
  bool is_of_set = config::cloud_of_region_blob(key) || config::split_region_key(key);
  const auto& values = is_of_set ? set_values_ : config_.values;
  auto it = values.find(key);
  return it == values.end() ? nullptr : &it->second;
}

const config::RegionMap& TargetValues::regions(const std::string& cloud) const {
  static const config::RegionMap kNone;
  auto it = sets_.find(cloud);
  return it == sets_.end() ? kNone : it->second;
}

std::vector<SettingView> values_to_write(const SelectedConfig& selected, const Diff& diff) {
  std::vector<SettingView> out;
  for (const auto& row : diff.rows) {
    bool is_done = !out.empty() && out.back().first == row.key;  // a webhook and a key may share a name
    if (row.category == Category::same || is_done) continue;
    const auto& values = diff.replaced_sets.contains(row.key) ? diff.replaced_sets : selected.values;
    auto it = values.find(row.key);
    if (it != values.end()) out.emplace_back(it->first, it->second);
  }
  return out;
}

std::string_view word(Category category) {
  switch (category) {
    case Category::add:
      return "ADD";
    case Category::change:
      return "CHANGE";
    case Category::unknown:
      return "UNKNOWN";
    case Category::same:
      return "SAME";
  }
  return "";
}

std::size_t Diff::count(Category category) const {
  return static_cast<std::size_t>(std::ranges::count(rows, category, &DiffRow::category));
}

bool Diff::has_differences() const { return count(Category::same) != rows.size(); }

Result<Diff> compare(const Bundle& bundle, const SelectedConfig& selected, Target& target,
                     const DiffOptions& options, Progress& progress) {
  return Comparer(bundle, selected, target, options, progress).run();
}

OrderedJson to_json(const Diff& diff) {
  OrderedJson counts;
  for (auto c : {Category::add, Category::change, Category::unknown, Category::same})
    counts[std::string(word(c))] = diff.count(c);
  auto entries = OrderedJson::array();
  for (const auto& row : diff.rows)
    entries.push_back({{"key", row.key},
                       {"category", word(row.category)},
                       {"chars", row.chars},
                       {"fingerprint", row.fingerprint}});
  return {{"counts", counts},
          {"entries", std::move(entries)},
          {"kept", diff.not_overwritten},
          {"would_drop", diff.would_drop},
          {"not_replaced", diff.not_replaced},
          {"would_vanish", diff.would_vanish},
          {"would_lose", diff.would_lose},
          {"warnings", diff.warnings}};
}

}  // namespace dash::migrate
