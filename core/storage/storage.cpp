#include "core/storage/storage.hpp"

namespace dash::storage {

Result<std::unique_ptr<Incoming>> Storage::receive(Principal who) {
  auto at = TRY(stores_.open(who, ""));
  return std::make_unique<Incoming>(upload_seams(), std::move(who), std::move(at));
}

Result<Card> Storage::deep_test(const Principal& who, std::string_view backend) {
  TRY(require_admin(who));
  return storage::deep_test(TRY(stores_.open(who, backend)), seams_.parts, seams_.clock);
}

}  // namespace dash::storage
