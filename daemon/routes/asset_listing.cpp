#include "daemon/routes/asset_listing.hpp"

namespace dash::daemon {
namespace {

// Until the answer begins, an error of the store has a status of its own; later it can but cut the answer off.
constexpr std::size_t kReadAhead = 1 << 20;

std::string items_of(const std::vector<storage::Asset>& assets) {
  std::string out;
  for (const auto& asset : assets) {
    if (!out.empty()) out += ',';
    append_json(out, asset);
  }
  return out;
}

std::string json_text(const std::string& text) { return dump_json(OrderedJson(text)); }

struct Page {
  std::vector<storage::Asset> items;
  bool is_last = false;
};
using ReadPage = std::function<Result<Page>()>;

// An array of assets, after `head`; a page of them at a time. Counted: "count" follows it.
class AssetListing final : public ResponseBody {
 public:
  AssetListing(std::string head, bool is_counted, ReadPage read_page)
      : is_counted_(is_counted), read_page_(std::move(read_page)), pending_(std::move(head)) {}

  void add(const Page& page) {
    if (count_ > 0 && !page.items.empty()) pending_ += ',';
    count_ += page.items.size();
    pending_ += items_of(page.items);
    is_whole_ = page.is_last;
    if (is_whole_) pending_ += is_counted_ ? fmt::format(R"(],"count":{}}})", count_) : "]";
  }

  Result<std::size_t> read(std::span<char> into) override {
    while (taken_ == pending_.size() && !is_whole_) {
      taken_ = 0;
      pending_.clear();
      add(TRY(read_page_()));
    }
    auto n = pending_.copy(into.data(), into.size(), taken_);
    taken_ += n;
    return n;
  }

  static Result<Response> respond(std::unique_ptr<AssetListing> listing) {
    while (listing->pending_.size() < kReadAhead && !listing->is_whole_)
      listing->add(TRY(listing->read_page_()));
    Response response;
    if (listing->is_whole_)
      response.body = std::move(listing->pending_);
    else
      response.source = std::move(listing);
    return response;
  }

 private:
  const bool is_counted_;
  const ReadPage read_page_;
  std::string pending_;
  bool is_whole_ = false;
  std::size_t taken_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

Result<Response> list_assets(storage::Assets& assets, const Request& request,
                             std::optional<std::string> backend) {
  const auto& principal = request.caller();
  auto cursor = request.query.get("cursor");
  auto page = TRY(assets.list_page(principal, backend, cursor.value_or("")));
  if (cursor) {
    Response response;
    response.body = fmt::format(R"({{"backend":{},"items":[{}],"count":{},"next":{}}})",
                                json_text(page.backend), items_of(page.items), page.items.size(),
                                page.next.empty() ? "null" : json_text(page.next));
    return response;
  }
  auto read_next = [&assets, principal, backend = std::move(backend),
                    next = page.next]() mutable -> Result<Page> {
    auto following = TRY(assets.list_page(principal, backend, next));
    next = std::move(following.next);
    return Page{std::move(following.items), next.empty()};
  };
  auto listing = std::make_unique<AssetListing>(
      fmt::format(R"({{"backend":{},"items":[)", json_text(page.backend)), true, std::move(read_next));
  listing->add({std::move(page.items), page.next.empty()});
  return AssetListing::respond(std::move(listing));
}

Result<Response> list_all_assets(storage::Assets& assets, const Request& request, bool is_counted) {
  auto read_next = [&assets, principal = request.caller(),
                    at = storage::AllPosition()]() mutable -> Result<Page> {
    auto items = TRY(assets.list_all(principal, at));
    return Page{std::move(items), at.is_end};
  };
  return AssetListing::respond(
      std::make_unique<AssetListing>(is_counted ? R"({"items":[)" : "[", is_counted, std::move(read_next)));
}

}  // namespace dash::daemon
