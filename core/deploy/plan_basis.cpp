#include "core/deploy/plan_basis.hpp"

#include "core/crypto/hash.hpp"
#include "core/storage/settings/locked_state.hpp"

namespace dash::deploy {
namespace {

std::string serial_text(const Json& basis) {
  auto serial = basis.find("serial");
  if (serial == basis.end() || !serial->is_number_integer()) return "did not exist";
  return fmt::format("had serial {}", serial->get<std::int64_t>());
}

}  // namespace

Json plan_basis(std::string_view state) {
  Json out = {{"serial", nullptr}, {"lineage", nullptr}, {"digest", crypto::to_hex(crypto::sha256(state))}};
  auto json = parse_json(state);
  if (!json || !json->is_object()) return out;
  if (auto serial = json->find("serial"); serial != json->end()) out["serial"] = *serial;
  if (auto lineage = json->find("lineage"); lineage != json->end()) out["lineage"] = *lineage;
  return out;
}

Result<Json> plan_basis(storage::LockedState& state) { return plan_basis(TRY(state.read())); }

std::optional<std::string> stale_plan(const Json& before, const Json& now) {
  if (before == now) return std::nullopt;
  return fmt::format(
      "the approved plan is stale: the state {} when the plan was made, and now it {}{}. Nothing was "
      "changed; "
      "submit the change again, so that a new plan is made and approved",
      serial_text(before), serial_text(now),
      serial_text(before) == serial_text(now) ? " with other content" : "");
}

}  // namespace dash::deploy
