#include "core/migrate/selection.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/config/clouds.hpp"
#include "core/config/exclusion.hpp"
#include "core/config/masking.hpp"
#include "core/config/registry.hpp"
#include "core/setup/import_body.hpp"

namespace dash::migrate {
namespace {

using config::RegionSets;

class Selector {
 public:
  Selector(Bundle& bundle, const Selection& selection) : bundle_(bundle), selection_(selection) {}

  SelectedConfig run() {
    auto& config = bundle_.config;
    while (!config.empty()) add(config.extract(config.begin()));
    // The regions section has priority over region keys that an editor put into config.
    for (const auto& [cloud, map] : bundle_.regions) config::merge_regions(sets_[cloud], map);
    if (selection_.replace_regions) keep_masked_fields();
    for (const auto& [cloud, map] : sets_)
      selection_.replace_regions ? replace(cloud, map) : merge(cloud, map);
    if (is_selected(selection_.only, kWebhooksName)) {
      out_.webhooks = bundle_.webhooks;
    } else {
      out_.webhooks_left_out = bundle_.webhooks.size();
    }
    return std::move(out_);
  }

 private:
  void add(config::Values::node_type entry) {
    const auto& key = entry.key();
    const auto& value = entry.mapped();
    if (!config::is_key(key)) return refuse(key, "invalid_key");
    if (config::is_masked(value)) {
      if (is_selected(selection_.only, key)) out_.masked.push_back(key);
      return;
    }
    if (auto cloud = config::cloud_of_region_blob(key)) return add_region_blob(*cloud, key, value);
    if (config::has_region_prefix(key)) return add_region_field(key, value);
    auto reason = config::exclusion_reason(key, value);
    if (reason == config::Exclusion::on_prem && selection_.include_on_prem) reason.reset();
    if (reason) {
      refuse(key, config::word(*reason));
    } else if (is_selected(selection_.only, key)) {
      out_.values.insert(out_.values.end(), std::move(entry));
    }
  }

  void add_region_blob(const std::string& cloud, const std::string& key, const std::string& value) {
    auto map = config::parse_region_blob(cloud, value);
    if (!map) return refuse(key, "malformed_region_set");
    config::merge_regions(sets_[cloud], *map);
  }

  void add_region_field(const std::string& key, const std::string& value) {
    auto parts = config::split_region_key(key);
    if (!parts) return refuse(key, "invalid_region_key");
    config::set_region_field(sets_[parts->cloud], *parts, value);
  }

  // The source hid them: the target keeps its values, also where its set is replaced.
  void keep_masked_fields() {
    for (const auto& [key, annotation] : bundle_.annotations) {
      auto parts = annotation.masked ? config::split_region_key(key) : std::nullopt;
      if (parts && sets_.contains(parts->cloud) && !sets_[parts->cloud][parts->region].contains(parts->field))
        config::set_region_field(sets_[parts->cloud], *parts, config::kMask);
    }
  }

  void merge(const std::string& cloud, const config::RegionMap& map) {
    for (const auto& [region, fields] : map) {
      for (const auto& [field, value] : fields) {
        auto key = config::region_key(cloud, region, field);
        if (!config::is_masked(value)) {
          put(key, value);
        } else if (is_selected(selection_.only, key)) {
          out_.masked.push_back(key);
        }
      }
    }
  }

  void replace(const std::string& cloud, const config::RegionMap& map) {
    auto key = config::region_blob_key(cloud);
    auto text = config::write_region_blob(map);
    if (text != "{}") {
      put(key, text);
    } else if (is_selected(selection_.only, key)) {
      out_.empty_region_sets.push_back(cloud);
    }
  }

  void refuse(const std::string& key, std::string_view reason) {
    if (is_selected(selection_.only, key)) out_.refused[key] = reason;
  }

  void put(const std::string& key, const std::string& value) {
    if (is_selected(selection_.only, key)) out_.values[key] = value;
  }

  Bundle& bundle_;
  const Selection& selection_;
  RegionSets sets_;
  SelectedConfig out_;
};

std::string nothing_to_write_reason(const SelectedConfig& selected, const Selection& selection) {
  if (!selected.refused.empty())
    return fmt::format("holds nothing to write: all {} of its keys are held back ({}{})",
                       selected.refused.size(), selected.refused.begin()->first,
                       selected.refused.size() > 1 ? ", …" : "");
  if (!selected.masked.empty()) return "holds nothing to write: its values are masked";
  if (!selection.only.empty())
    return fmt::format("holds no key that starts with {}", fmt::join(selection.only, " or "));
  return "holds nothing to write: its config and regions are empty";
}

}  // namespace

bool is_selected(const std::vector<std::string>& only, std::string_view key) {
  if (only.empty()) return true;
  auto provider = config::provider_key(key);
  return std::ranges::any_of(only, [&](const std::string& prefix) {
    return key.starts_with(prefix) || provider.starts_with(prefix) ||
           key.starts_with(config::canonical_key(prefix));
  });
}

Result<SelectedConfig> select(Bundle& bundle, const Selection& selection, std::string_view file) {
  auto selected = Selector(bundle, selection).run();
  if (selected.values.empty() && selected.webhooks.empty())
    return fail(selection.only.empty() ? Code::integrity : Code::invalid, "the bundle {} {}", file,
                nothing_to_write_reason(selected, selection));
  return selected;
}

}  // namespace dash::migrate
