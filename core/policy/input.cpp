#include "core/policy/input.hpp"

#include <array>

#include "core/config/clouds.hpp"

namespace dash::policy {
namespace {

constexpr std::array<const char*, 7> kDays{"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

// Folds the region in place and records what was typed where that differs.
void fold_request(Json& request, const GateSettings& settings) {
  Json typed = Json::object();
  auto region = request.find("region");
  if (region != request.end() && region->is_string()) {
    auto folded = fold_region(region->get_ref<const std::string&>());
    if (folded != region->get_ref<const std::string&>()) typed["region"] = std::exchange(*region, folded);
  }
  auto note = [&](const char* name, const auto& as_typed, const auto& folded) {
    if (as_typed != folded) typed[name] = as_typed;
  };
  note("allowed_regions", settings.typed.allowed_regions, settings.folded.allowed_regions);
  note("denied_instance_types", settings.typed.denied_instance_types, settings.folded.denied_instance_types);
  note("prod_window", settings.typed.prod_window, settings.folded.prod_window);
  request.erase("typed");
  if (!typed.empty()) request["typed"] = std::move(typed);
}

}  // namespace

Json now_document(Time at) {
  using namespace std::chrono;
  auto day = floor<days>(at);
  auto index = weekday(day).c_encoding();
  return Json{{"iso", format_iso(floor<seconds>(at))},
              {"weekday", kDays.at(index)},
              {"hour", duration_cast<hours>(at - day).count()}};
}

Json input_document(const GateSettings& settings, std::string_view canonical, const Json& request,
                    const Actor& actor, Time at) {
  Json folded = request.is_object() ? request : Json::object();
  fold_request(folded, settings);
  return Json{
      {"action", settings.provider_names ? config::provider_action(canonical) : std::string(canonical)},
      {"actor", {{"username", actor.username}, {"is_admin", actor.is_admin}}},
      {"request", std::move(folded)},
      {"limits",
       {{"allowed_regions", settings.folded.allowed_regions},
        {"denied_instance_types", settings.folded.denied_instance_types},
        {"prod_window", settings.folded.prod_window}}},
      {"now", now_document(at)}};
}

}  // namespace dash::policy
