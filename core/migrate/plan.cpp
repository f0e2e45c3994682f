#include "core/migrate/plan.hpp"

#include <algorithm>
#include <set>

#include "core/config/masking.hpp"
#include "core/config/registry.hpp"
#include "core/crypto/hash.hpp"

namespace dash::migrate {
namespace {

constexpr std::size_t kHashKeyBytes = 32;

// The state of a hidden value is only the outcome of its comparison.
std::string state_of(const Diff& diff, const DiffRow& row, std::string_view hash_key) {
  const auto* theirs = diff.target.find(row.key);
  std::string state;
  if (!theirs) {
    state = row.category == Category::add ? "absent" : fmt::format("hidden {}", word(row.category));
  } else if (config::is_masked(*theirs)) {
    state = fmt::format("hidden {}", word(row.category));
  } else if (theirs->find(config::kMask) != std::string::npos) {
    state = fmt::format("partly hidden {} {}", word(row.category), *theirs);
  } else {
    state = "value " + *theirs;
  }
  return crypto::to_hex(crypto::hmac_sha256(hash_key, row.key + '\0' + state));
}

Json selection_json(const Selection& s) {
  return {{"only", s.only},
          {"replace_regions", s.replace_regions},
          {"include_on_prem", s.include_on_prem},
          {"allow_empty_values", s.allow_empty_values}};
}

Selection selection_of(const Json& json) {
  Selection s;
  if (!json.is_object()) return s;
  if (auto only = json.find("only"); only != json.end() && only->is_array())
    for (const auto& prefix : *only)
      if (prefix.is_string()) s.only.push_back(prefix.get<std::string>());
  auto flag = [&](const char* name) { return json.value(name, Json(false)) == true; };
  s.replace_regions = flag("replace_regions");
  s.include_on_prem = flag("include_on_prem");
  s.allow_empty_values = flag("allow_empty_values");
  return s;
}

}  // namespace

MigrationPlan make_plan(const Bundle& bundle, std::string_view file, const Diff& diff,
                        const DiffOptions& options, std::string_view target, Time now) {
  MigrationPlan plan{std::string(target),
                     format_iso(now),
                     std::string(file),
                     bundle.digest,
                     options,
                     crypto::random_bytes(kHashKeyBytes),
                     {}};
  for (const auto& row : diff.rows) plan.states[row.key] = state_of(diff, row, plan.hash_key);
  return plan;
}

std::string write_plan(const MigrationPlan& plan) {
  OrderedJson out{{"schema", kPlanSchema},
                  {"plan_for", plan.target},
                  {"made_at", plan.made_at},
                  {"bundle", plan.bundle},
                  {"bundle_digest", plan.bundle_digest},
                  {"selection", selection_json(plan.options.selection)},
                  {"compare_blindly", plan.options.compare_blindly},
                  {"hash_key", crypto::to_hex(plan.hash_key)},
                  {"states", plan.states}};
  return dump_json(out, 2) + "\n";
}

Result<MigrationPlan> parse_plan(std::string_view text, std::string_view file) {
  auto bad = [&](std::string_view reason) { return fail(Code::integrity, "the plan {} {}", file, reason); };
  auto json = parse_json(text);
  if (!json) return bad("is cut or damaged: " + json.error().message);
  if (!json->is_object() || json->value("schema", Json()) != kPlanSchema)
    return bad("is not a plan of schema 1");
  auto key = crypto::from_hex(string_member(*json, "hash_key").value_or(""));
  auto states = json->find("states");
  if (!key || key->size() != kHashKeyBytes || states == json->end() || !states->is_object())
    return bad("is malformed: make it again with `dashctl migrate diff --plan-out`");
  MigrationPlan plan{
      string_member(*json, "plan_for").value_or(""),
      string_member(*json, "made_at").value_or(""),
      string_member(*json, "bundle").value_or(""),
      string_member(*json, "bundle_digest").value_or(""),
      {json->value("compare_blindly", Json(true)) != false, selection_of(json->value("selection", Json()))},
      *key,
      {}};
  for (const auto& [name, state] : states->items())
    plan.states[name] = state.is_string() ? state.get<std::string>() : std::string();
  return plan;
}

Result<void> check_plan(const MigrationPlan& plan, const Bundle& bundle, const Diff& now,
                        std::string_view target, const std::vector<std::string>& accepted) {
  if (plan.target != target)
    return fail(Code::usage, "the plan was made for {}, not for {}", plan.target, target);
  if (plan.bundle_digest != bundle.digest)
    return fail(Code::drift, "the bundle changed since the plan of {}: make the plan again", plan.made_at);
  std::set<std::string> allowed;
  for (const auto& key : accepted) allowed.insert(config::canonical_key(key));
  std::vector<std::string> drifted;
  std::set<std::string> seen;
  for (const auto& row : now.rows) {
    seen.insert(row.key);
    auto planned = plan.states.find(row.key);
    bool is_as_planned = planned != plan.states.end() && planned->second == state_of(now, row, plan.hash_key);
    if (!is_as_planned && row.category != Category::same && !allowed.contains(row.key))
      drifted.push_back(row.key);
  }
  for (const auto& [key, state] : plan.states)
    if (!seen.contains(key) && !allowed.contains(key)) drifted.push_back(key);
  if (drifted.empty()) return {};
  return fail(Code::drift,
              "{} changed since the plan of {}, nothing was written; look at it and accept it with "
              "--accept-drift: {}",
              target, plan.made_at, fmt::join(drifted, ", "));
}

}  // namespace dash::migrate
