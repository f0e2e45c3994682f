#include "core/migrate/diff.hpp"

#include <algorithm>

#include "core/config/masking.hpp"
#include "core/config/regions.hpp"
#include "core/config/registry.hpp"
#include "core/migrate/endpoint_diff.hpp"
#include "core/migrate/vault_check.hpp"

namespace dash::migrate {
namespace {

constexpr std::size_t kProgressStep = 1000;

// The target's values by final key name: its region sets taken apart into fields.
class Target {
 public:
  Target(const Told& told, bool whole_sets, std::vector<std::string>& warnings) {
    config::RegionSets sets;
    for (const auto& [key, value] : told.values) {
      if (auto cloud = config::cloud_of_region_blob(key)) {
        auto map = config::parse_region_blob(*cloud, value);
        if (map) {
          config::merge_regions(sets[*cloud], *map);
        } else {
          warnings.push_back(
              fmt::format("the target's {} is not a JSON object of regions and would be replaced", key));
        }
      } else if (auto parts = config::split_region_key(key)) {
        // A peer without a model for the cloud keeps the field as a flat key.
        config::set_region_field(sets[parts->cloud], *parts, value);
      } else {
        values_.emplace(key, value);
      }
    }
    for (const auto& [cloud, map] : sets) whole_sets ? put_whole(cloud, map) : put_fields(cloud, map);
  }

  // nullptr when absent.
  const std::string* find(const std::string& key) const {
    auto it = values_.find(key);
    return it == values_.end() ? nullptr : &it->second;
  }

 private:
  void put_whole(const std::string& cloud, const config::RegionMap& map) {
    values_[config::region_blob_key(cloud)] = config::write_region_blob(map);
  }
  void put_fields(const std::string& cloud, const config::RegionMap& map) {
    for (const auto& [region, fields] : map)
      for (const auto& [field, value] : fields) values_[config::region_key(cloud, region, field)] = value;
  }
  config::Values values_;
};

class Comparer {
 public:
  Comparer(const Bundle& bundle, const Staged& staged, Instance& target, const DiffOptions& options,
           Progress& progress)
      : bundle_(bundle), staged_(staged), instance_(target), options_(options), progress_(progress) {}

  Result<Diff> run() {
    auto told = TRY(instance_.read());
    Target target(told, options_.selection.replace_regions, out_.warnings);
    for (const auto& [key, value] : staged_.values) {
      place(key, value, target, told.is_peer);
      if (out_.rows.size() % kProgressStep == 0)
        progress_.update("comparing keys", out_.rows.size(), staged_.values.size());
    }
    out_.told = std::move(told);
    TRY(resolve_masked());
    if (!staged_.endpoints.empty())
      TRY(compare_endpoints(bundle_, staged_.endpoints, instance_, options_.compare_blindly, out_));
    TRY(warn_of_vaults(staged_.values, instance_, out_.warnings));
    for (const auto& row : out_.rows)
      if (auto it = staged_.values.find(row.key);
          it != staged_.values.end() && row.category != Category::same)
        out_.to_write.insert(*it);
    return std::move(out_);
  }

 private:
  void place(const std::string& key, const std::string& value, const Target& target, bool is_peer) {
    if (is_peer && drops(key)) {
      out_.would_drop.push_back(key);
      return;
    }
    const auto* theirs = target.find(key);
    if (theirs) out_.target.emplace(key, *theirs);
    if (theirs && value.empty() && !theirs->empty() && !options_.selection.allow_empty_values) {
      out_.kept.push_back(key);
      return;
    }
    DiffRow row{key, Category::same, code_points(value), fingerprint(bundle_, value)};
    if (!theirs) {
      row.category = Category::add;
    } else if (hides_from(key, value, *theirs)) {
      row.category = Category::unknown;
      masked_.emplace(key, value);
    } else if (*theirs != kept_value(key, value, *theirs)) {
      row.category = Category::change;
    }
    out_.rows.push_back(std::move(row));
  }

  // Whether the target shows a mask where a value would be needed to compare.
  static bool hides_from(const std::string& key, const std::string& mine, const std::string& theirs) {
    auto cloud = config::cloud_of_region_blob(key);
    if (!cloud) return config::is_masked(theirs);
    auto shown = config::parse_region_blob(*cloud, theirs);
    auto sent = config::parse_region_blob(*cloud, mine);
    if (!shown || !sent) return false;
    for (const auto& [region, fields] : *sent)
      for (const auto& [field, value] : fields)
        if (!config::is_masked(value) && config::is_masked((*shown)[region][field])) return true;
    return false;
  }

  // What the target will hold: a masked field of a region set stays as it is there.
  static std::string kept_value(const std::string& key, const std::string& mine, const std::string& theirs) {
    auto cloud = config::cloud_of_region_blob(key);
    return cloud ? config::with_stored_fields(*cloud, mine, theirs) : mine;
  }

  static bool drops(const std::string& key) {
    auto parts = config::split_region_key(key);
    return parts && !config::peer_keeps(*parts);
  }

  Result<void> resolve_masked() {
    if (masked_.empty() || !options_.compare_blindly) return {};
    auto results = TRY(instance_.compare(masked_));
    if (!results) return {};
    for (auto& row : out_.rows) {
      auto told = row.category == Category::unknown ? results->find(row.key) : results->end();
      if (told == results->end()) continue;
      row.category = told->second == setup::Comparison::same      ? Category::same
                     : told->second == setup::Comparison::differs ? Category::change
                                                                  : Category::add;
    }
    return {};
  }

  const Bundle& bundle_;
  const Staged& staged_;
  Instance& instance_;
  const DiffOptions& options_;
  Progress& progress_;
  config::Values masked_;  // what the target hides
  Diff out_;
};

}  // namespace

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

Result<Diff> compare(const Bundle& bundle, const Staged& staged, Instance& target, const DiffOptions& options,
                     Progress& progress) {
  return Comparer(bundle, staged, target, options, progress).run();
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
          {"kept", diff.kept},
          {"would_drop", diff.would_drop},
          {"warnings", diff.warnings}};
}

}  // namespace dash::migrate
