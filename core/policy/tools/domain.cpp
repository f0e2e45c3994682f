#include "core/policy/tools/domain.hpp"

#include <array>

namespace dash::policy {
namespace {

constexpr std::array<const char*, 7> kWeek{"fri", "sat", "sun", "mon",
                                           "tue", "wed", "thu"};  // 2026-07-03 was a Friday
constexpr std::array<int, 5> kHours{14, 0, 6, 9, 23};
constexpr std::size_t kMaxWords = 200;
constexpr std::size_t kMaxWord = 200;

void collect_literals(const Json& node, std::set<std::string>& out) {
  if (node.is_object() && node.value("type", "") == "string" && node.contains("value") &&
      node["value"].is_string()) {
    const auto& text = node["value"].get_ref<const std::string&>();
    if (text.size() <= kMaxWord && out.size() < kMaxWords) out.insert(text);
    return;
  }
  if (node.is_structured())
    for (const auto& child : node) collect_literals(child, out);
}

bool is_teardown(const std::string& action) { return action.ends_with(":destroy"); }

Json now(std::size_t day, int hour) {
  return {{"iso", fmt::format("2026-07-{:02}T{:02}:00:00Z", 3 + day, hour)},
          {"weekday", kWeek.at(day)},
          {"hour", hour}};
}

Json base(const std::string& action) {
  Json request{{"region", "us-east-1"}, {"name", "web-01"}, {"workgroup", "web"}};
  if (is_teardown(action)) {
    request["has_deploy_job"] = true;
  } else {
    request["instance_type"] = "t3.medium";
    request["image"] = "image-1";
    request["count"] = 1;
    request["batch"] = false;
  }
  return {{"action", action},
          {"actor", {{"username", "alice"}, {"is_admin", false}}},
          {"request", std::move(request)},
          {"now", now(0, kHours[0])}};
}

Json limits_document(const Limits& l) {
  return {{"allowed_regions", l.allowed_regions},
          {"denied_instance_types", l.denied_instance_types},
          {"prod_window", l.prod_window}};
}

class Domain {
 public:
  Domain(const Limits& limits, const std::set<std::string>& words) : words_(words) {
    limits_ = {limits_document({}), limits_document({{"us-east-1"}, {"p4d.24xlarge"}, {"sat", "sun"}}),
               limits_document({{"eu-west-1"}, {"t3.medium"}, {"fri"}})};
    if (!limits.allowed_regions.empty() || !limits.denied_instance_types.empty() ||
        !limits.prod_window.empty())
      limits_.push_back(limits_document(limits));
  }

  std::vector<std::string> run() {
    for (const auto& action : gated_action_names()) add_clock_and_actor_variants(base(action));
    for (const auto& action : gated_action_names()) add_request_variants(base(action));
    return std::move(out_);
  }

 private:
  void add(Json document) {
    for (const auto& limits : limits_) {
      if (out_.size() >= kMaxDomain) return;
      document["limits"] = limits;
      out_.push_back(dump_json(document));
    }
  }
  // Adds every hour without limits, the limits at one hour of each day, and an administrator once.
  void add_clock_and_actor_variants(Json document) {
    for (std::size_t day = 0; day < kWeek.size(); ++day) {
      for (int hour : kHours) {
        document["now"] = now(day, hour);
        if (hour == kHours[0]) {
          add(document);
          continue;
        }
        document["limits"] = limits_.front();
        out_.push_back(dump_json(document));
      }
    }
    document["now"] = now(0, kHours[0]);
    document["actor"]["is_admin"] = true;
    add(document);
  }
  void add_variant(const Json& document, const char* member, Json value) {
    auto changed = document;
    changed["request"][member] = std::move(value);
    add(std::move(changed));
  }
  void add_request_variants(const Json& document) {
    bool down = is_teardown(document["action"].get<std::string>());
    for (auto text : {"", "us-east-1a", "US-EAST-1", "\u00e9 \"'\\"}) add_variant(document, "region", text);
    for (auto member : {"region", "workgroup"}) add_variant(document, member, nullptr);
    if (down) add_variant(document, "has_deploy_job", false);
    if (!down)
      add_variant(document, "image", ""), add_variant(document, "instance_type", ""),
          add_variant(document, "count", 20);
    for (const auto& word : words_) {
      for (auto member : {"region", "name", "workgroup"}) add_variant(document, member, word);
      if (!down)
        for (auto member : {"instance_type", "image", "zone", "engine", "cloud"})
          add_variant(document, member, word);
      auto changed = document;
      changed["actor"]["username"] = word;
      add(std::move(changed));
    }
  }

  const std::set<std::string>& words_;
  std::vector<Json> limits_;
  std::vector<std::string> out_;
};

}  // namespace

std::set<std::string> literals(const RuleSet& rules) {
  std::set<std::string> out;
  for (const auto& rule : rules.rules)
    if (rule.evaluates && rule.module.contains("rules"))
      for (const auto& part : rule.module.at("rules"))
        for (auto member : {"body", "head", "else"})
          if (part.contains(member)) collect_literals(part.at(member), out);
  return out;
}

std::vector<std::string> sample_documents(const Limits& limits, const std::set<std::string>& words) {
  return Domain(limits, words).run();
}

}  // namespace dash::policy
