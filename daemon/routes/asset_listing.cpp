#include "daemon/routes/asset_listing.hpp"

namespace dash::daemon {
namespace {

// Until the answer begins, an error of the store has a status of its own; later it can but cut the answer off.
constexpr std::size_t kReadAhead = 1 << 20;

// Asset by asset: as one tree, a page would take ten times its text.
std::string items_of(const storage::AssetPage& page) {
  std::string out;
  for (const auto& asset : page.items) out += (out.empty() ? "" : ",") + dump_json(to_json(asset));
  return out;
}

std::string json_text(const std::string& text) { return dump_json(OrderedJson(text)); }

class AssetListing final : public ResponseBody {
 public:
  AssetListing(storage::Assets& assets, Principal principal, std::optional<std::string> backend,
               storage::AssetPage first)
      : assets_(assets),
        principal_(std::move(principal)),
        backend_(std::move(backend)),
        next_(std::move(first.next)),
        pending_(fmt::format(R"({{"backend":{},"items":[)", json_text(first.backend))) {
    add(first);
  }

  Result<void> read_ahead() {
    while (pending_.size() < kReadAhead && !next_.empty()) TRY(read_page());
    return {};
  }
  bool is_whole() const { return next_.empty(); }
  std::string take() && { return std::move(pending_); }

  Result<std::size_t> read(std::span<char> into) override {
    while (taken_ == pending_.size() && !next_.empty()) {
      taken_ = 0;
      pending_.clear();
      TRY(read_page());
    }
    auto n = pending_.copy(into.data(), into.size(), taken_);
    taken_ += n;
    return n;
  }

 private:
  Result<void> read_page() {
    auto page = TRY(assets_.list_page(principal_, backend_, next_));
    next_ = std::move(page.next);
    add(page);
    return {};
  }
  void add(const storage::AssetPage& page) {
    if (count_ > 0 && !page.items.empty()) pending_ += ',';
    count_ += page.items.size();
    pending_ += items_of(page);
    if (next_.empty()) pending_ += fmt::format(R"(],"count":{}}})", count_);
  }

  storage::Assets& assets_;
  const Principal principal_;
  const std::optional<std::string> backend_;
  std::string next_;
  std::string pending_;
  std::size_t taken_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

Result<Response> list_assets(storage::Assets& assets, const Request& request,
                             std::optional<std::string> backend) {
  const auto& principal = request.caller();
  auto cursor = request.query.get("cursor");
  auto page = TRY(assets.list_page(principal, backend, cursor.value_or("")));
  Response response;
  if (cursor) {
    response.body =
        fmt::format(R"({{"backend":{},"items":[{}],"count":{},"next":{}}})", json_text(page.backend),
                    items_of(page), page.items.size(), page.next.empty() ? "null" : json_text(page.next));
    return response;
  }
  auto listing = std::make_unique<AssetListing>(assets, principal, std::move(backend), std::move(page));
  TRY(listing->read_ahead());
  if (listing->is_whole())
    response.body = std::move(*listing).take();
  else
    response.source = std::move(listing);
  return response;
}

}  // namespace dash::daemon
