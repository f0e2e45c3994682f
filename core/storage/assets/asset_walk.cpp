#include "core/storage/assets/asset_walk.hpp"

#include <algorithm>

namespace dash::storage {
namespace {

// The assets of one backend, one after the other.
class AssetWalk {
 public:
  AssetWalk(Assets& assets, const Principal& principal, const OpenBackend& at, std::string_view what)
      : assets_(assets), principal_(principal), at_(at), what_(what) {}

  // Returns the next asset; nullptr after the last, and once a page is not after the one before.
  Result<Asset*> peek() {
    while (now_.position == now_.items.size() && !now_.is_last && now_.is_in_order) TRY(read_page());
    if (now_.position == now_.items.size() || !now_.is_in_order) return nullptr;
    return &now_.items[now_.position];
  }
  void advance() { ++now_.position; }
  bool is_in_order() const { return now_.is_in_order; }

  // Begins again, with the whole list in order.
  Result<void> read_whole() {
    now_ = {};
    std::vector<Asset> all;
    while (!now_.is_last) {
      TRY(read_page());
      std::ranges::move(now_.items, std::back_inserter(all));
    }
    std::ranges::sort(all, {}, &Asset::name);
    now_.items = std::move(all);
    now_.is_in_order = true;
    return {};
  }

 private:
  Result<void> read_page() {
    auto page = TRY(within(what_, assets_.list_after(principal_, at_, now_.cursor)));
    now_.cursor = std::move(page.next);
    now_.items = std::move(page.items);
    now_.position = 0;
    now_.is_last = now_.cursor.empty();
    if (now_.items.empty()) return {};
    if (now_.items.front().name <= now_.last_name) now_.is_in_order = false;
    now_.last_name = now_.items.back().name;
    return {};
  }

  struct State {
    std::vector<Asset> items{};
    std::size_t position = 0;
    std::string cursor{};
    std::string last_name{};  // of the pages so far
    bool is_last = false;
    bool is_in_order = true;
  };
  Assets& assets_;
  const Principal& principal_;
  const OpenBackend& at_;
  const std::string_view what_;
  State now_;
};

// Returns false where a walk was found to be out of order; not all was visited then.
Result<bool> visit_in_order(AssetWalk& from, AssetWalk& to, const VisitAssets& visit) {
  while (true) {
    auto* source = TRY(from.peek());
    auto* target = TRY(to.peek());
    if (!from.is_in_order() || !to.is_in_order()) return false;
    if (!source && !target) return true;
    auto is_only_source = source && (!target || source->name < target->name);
    auto is_only_target = target && (!source || target->name < source->name);
    TRY(visit(is_only_target ? nullptr : source, is_only_source ? nullptr : target));
    if (!is_only_target) from.advance();
    if (!is_only_source) to.advance();
  }
}

}  // namespace

Result<void> visit_both(Assets& assets, const Principal& principal, const BackendPair& pair,
                        const std::function<void()>& restart, const VisitAssets& visit) {
  AssetWalk from(assets, principal, pair.from, "listing the source");
  AssetWalk to(assets, principal, pair.to, "listing the target");
  if (TRY(visit_in_order(from, to, visit))) return {};
  restart();
  TRY(from.read_whole());
  TRY(to.read_whole());
  TRY(visit_in_order(from, to, visit));
  return {};
}

}  // namespace dash::storage
