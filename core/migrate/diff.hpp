// Compares a selected bundle with a target, key by key: region fields with the target's region sets, masked
// values by a blind comparison. Values stay inside: the output has a length and a keyed fingerprint. Used by
// diff, by import and by its read-back.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/base/progress.hpp"
#include "core/migrate/selection.hpp"
#include "core/migrate/target.hpp"

namespace dash::migrate {

enum class Category { add, change, unknown, same };
// Returns ADD, CHANGE, UNKNOWN or SAME.
std::string_view word(Category category);

struct DiffRow {
  std::string key;  // canonical, or notification_endpoints.<name>
  Category category = Category::same;
  std::size_t chars = 0;    // of the bundle's value
  std::string fingerprint;  // of the bundle's value
};

// The target's values by final key name: its region sets split into fields, or whole.
class TargetValues {
 public:
  TargetValues() = default;
  // Adds sentences about what is malformed to `warnings`.
  TargetValues(InstanceConfig config, bool whole_sets, std::vector<std::string>& warnings);

  // Returns nullptr when absent.
  const std::string* find(const std::string& key) const;
  const config::RegionMap& regions(const std::string& cloud) const;
  // The target's whole configuration, as it was read.
  const InstanceConfig& config() const { return config_; }

 private:
  InstanceConfig config_;
  config::RegionSets sets_;
  config::Values set_values_;  // what sets_ has, by final key name
};

// A webhook of the bundle beside the target's row that it stands for.
struct WebhookRow {
  setup::FullWebhook mine;
  std::optional<std::string> id;  // on the target
  Category category = Category::add;
};

struct Diff {
  std::vector<DiffRow> rows;  // sorted by key
  std::vector<WebhookRow> webhooks;
  config::Values replaced_sets;              // with --regions replace: the part that the target can keep
  std::vector<std::string> not_overwritten;  // blank in the bundle, not blank on the target: stays
  std::vector<std::string> would_drop;       // region fields that the target's model lacks: not sent
  std::vector<std::string> masked;           // region fields without a value: not sent
  // With --regions replace:
  std::vector<std::string> not_replaced;  // clouds for which the bundle has nothing that the target can keep
  std::vector<std::string> would_vanish;  // "cloud1_region.eu-west-1": regions that only the target has
  std::vector<std::string> would_lose;    // region fields that only the target has, in regions that stay
  std::vector<std::string> warnings;      // sentences about the target
  TargetValues target;
  std::size_t count(Category category) const;
  bool has_differences() const;
};

// Returns what is ADD, CHANGE and UNKNOWN, without the webhooks. The texts are those of the arguments.
std::vector<SettingView> values_to_write(const SelectedConfig& selected, const Diff& diff);

struct DiffOptions {
  bool compare_blindly = true;  // false with --no-compare
  Selection selection;
  bool fingerprints = true;  // false when nobody sees the rows
};

Result<Diff> compare(const Bundle& bundle, const SelectedConfig& selected, Target& target,
                     const DiffOptions& options, Progress& progress);

// {counts, entries: [{key, category, chars, fingerprint}], …}: the document of --output json.
OrderedJson to_json(const Diff& diff);

}  // namespace dash::migrate
