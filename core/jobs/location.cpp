#include "core/jobs/location.hpp"

#include <algorithm>

#include "core/base/fields.hpp"
#include "core/base/shape.hpp"
#include "core/base/text.hpp"
#include "core/policy/settings.hpp"

namespace dash::jobs {
namespace {

constexpr std::string_view kZonedCloud = "cloud3";  // its deploys name a zone
constexpr std::size_t kMaxLocationNameBytes = 64;

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxLocationNameBytes && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

// Folds to letters, digits, hyphens; blanks are only for display ("East US").
Result<std::string> folded_region(std::string_view typed) {
  auto folded = policy::fold_region(typed);
  if (!is_name(folded)) return fail(Code::invalid, "'{}' is not a region's name", typed);
  return folded;
}

// Where no deploy has a zone, a zone is only compared: "us-east-1a", "2", "Uocm:PHX-AD-1".
Result<std::string> folded_zone(std::string_view typed) {
  auto folded = lower(typed), plain = folded;
  std::ranges::replace(plain, ':', '-');
  if (!is_name(plain)) return fail(Code::invalid, "'{}' is not a zone's name", typed);
  return folded;
}

}  // namespace

Result<RawLocation> parse_location(const Action& deploy, std::string_view cloud, const Json& body) {
  RawLocation out{TRY(aliased_text_field(body, deploy.region)), ""};
  if (cloud != kZonedCloud) return out;
  out.zone = TRY(aliased_text_field(body, {"zone"}));
  if (!out.zone.empty()) return out;
  if (auto region = region_of_zone(out.region)) out.zone = std::exchange(out.region, *region);
  return out;
}

Result<Location> normalize_location(std::string_view cloud, RawLocation typed) {
  Location out;
  if (cloud == kZonedCloud && !typed.zone.empty()) {
    auto region = region_of_zone(typed.zone);
    if (!region)
      return fail(Code::invalid, "'{}' is not a zone's name, like {}", typed.zone, defaults_of(cloud).zone);
    if (!typed.region.empty() && policy::fold_region(typed.region) != policy::fold_region(*region))
      return wrong_value("zone", fmt::format("lies in {}, not in the region that is given", *region));
    if (typed.region.empty()) typed.region = *region;
    out.zone = TRY(folded_region(typed.zone));
  } else if (!typed.zone.empty()) {
    out.zone = TRY(folded_zone(typed.zone));
  }
  if (!typed.region.empty()) out.region = TRY(folded_region(typed.region));
  out.typed = std::move(typed.region);
  return out;
}

std::optional<std::string> region_of_zone(std::string_view zone) {
  auto text = trim(zone);
  bool looks = text.size() > 3 && text[text.size() - 2] == '-' &&
               std::isalpha(static_cast<unsigned char>(text.back())) &&
               std::isdigit(static_cast<unsigned char>(text[text.size() - 3]));
  return looks ? std::optional(std::string(text.substr(0, text.size() - 2))) : std::nullopt;
}

}  // namespace dash::jobs
