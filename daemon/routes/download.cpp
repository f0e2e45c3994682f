#include "daemon/routes/download.hpp"

#include <cstring>

#include "core/base/text.hpp"
#include "core/crypto/hash.hpp"
#include "core/storage/store/part_layout.hpp"
#include "daemon/http/range.hpp"

namespace dash::daemon {
namespace {

// An asset that is replaced more often than this while it is opened is being written continuously.
constexpr int kMaxReads = 8;

// A multiple of three, so that every piece but the last encodes without padding.
constexpr std::size_t kEncodeBytes = 48u << 10;

class RawBody final : public ResponseBody {
 public:
  RawBody(storage::AssetReader reader, std::uint64_t size) : reader_(std::move(reader)), size_(size) {}
  std::optional<std::uint64_t> size() const override { return size_; }
  Result<std::size_t> read(std::span<char> into) override { return reader_.read(into); }
  void release() override { reader_.release(); }

 private:
  storage::AssetReader reader_;
  std::uint64_t size_;
};

// `head` ends inside of the JSON text of content_b64, and `tail` closes it.
class JsonBody final : public ResponseBody {
 public:
  JsonBody(storage::AssetReader reader, std::string head, std::string tail)
      : reader_(std::move(reader)), pending_(std::move(head)), tail_(std::move(tail)) {
    auto encoded = (reader_.found().object.size + 2) / 3 * 4;
    size_ = pending_.size() + encoded + tail_.size();
  }
  std::optional<std::uint64_t> size() const override { return size_; }

  Result<std::size_t> read(std::span<char> into) override {
    if (taken_ == pending_.size()) TRY(encode_more());
    auto n = pending_.copy(into.data(), into.size(), taken_);
    taken_ += n;
    return n;
  }

  void release() override { reader_.release(); }

 private:
  Result<void> encode_more() {
    std::string bytes(kEncodeBytes, '\0');
    auto filled = TRY(read_full(reader_, bytes));
    taken_ = 0;
    pending_ = crypto::to_base64(std::string_view(bytes).substr(0, filled));
    if (filled < bytes.size()) pending_ += std::exchange(tail_, "");
    return {};
  }
  storage::AssetReader reader_;
  std::string pending_;
  std::string tail_;
  std::size_t taken_ = 0;
  std::uint64_t size_ = 0;
};

// Some stores quote their etags; ours is always quoted (RFC 9110 §8.8.3).
std::string entity_tag(const storage::Object& object) {
  std::string tag = "\"";
  for (char c : object.etag)
    if (c != '"') tag += c;
  return tag + "\"";
}

bool has_tag(std::string_view header, std::string_view tag) {
  while (!header.empty()) {
    auto end = std::min(header.find(','), header.size());
    auto one = trim(header.substr(0, end));
    if (one == "*" || one == tag || (one.starts_with("W/") && one.substr(2) == tag)) return true;
    header.remove_prefix(std::min(end + 1, header.size()));
  }
  return false;
}

void add_asset_headers(Response& response, const storage::FindResult& found, const std::string& tag) {
  response.content_type = "application/octet-stream";
  response.headers.add("ETag", tag);
  response.headers.add("Accept-Ranges", "bytes");
  response.headers.add("X-Content-Type-Options", "nosniff");
  auto name = found.asset.name.substr(found.asset.name.rfind('/') + 1);
  response.headers.add("Content-Disposition", "attachment; filename*=UTF-8''" + net::percent_encode(name));
  if (!found.asset.digest.empty()) response.headers.add("X-Asset-Digest", found.asset.digest);
}

Result<std::optional<ByteRange>> requested_range(const Request& request, std::uint64_t size,
                                                 std::string_view tag) {
  auto header = request.header("Range");
  auto condition = request.header("If-Range");
  if (!header || (condition && trim(*condition) != tag)) return std::nullopt;
  return parse_range(*header, size);
}

}  // namespace

bool reads_from_start(const Request& request) {
  for (auto condition : {"If-Match", "If-None-Match", "If-Range"})
    if (request.header(condition)) return false;
  return !request.is_head && request.header("Range").value_or("bytes=0-").starts_with("bytes=0-");
}

Result<Response> raw_download(storage::FindResult found, storage::Prefetched front, const Request& request,
                              DownloadDeps deps) {
  auto tag = entity_tag(found.object);
  if (auto match = request.header("If-Match"); match && !has_tag(*match, tag))
    return fail(Code::precondition, "'{}' is not what If-Match names: it was replaced", found.asset.name);
  Response response;
  add_asset_headers(response, found, tag);
  if (auto none = request.header("If-None-Match"); none && has_tag(*none, tag)) {
    response.status = 304;
    return response;
  }
  auto size = found.object.size;
  auto range = requested_range(request, size, tag);
  if (!range) {
    auto refused = error_response(range.error());
    refused.headers.add("Content-Range", fmt::format("bytes */{}", size));
    return refused;
  }
  auto bytes = range->value_or(ByteRange{0, size});
  if (*range) {
    response.status = 206;
    response.headers.add("Content-Range", fmt::format("bytes {}-{}/{}", bytes.offset, bytes.end() - 1, size));
  }
  storage::AssetReader reader(std::move(found), bytes.offset, bytes.end(), deps.buffers, deps.clock,
                              std::move(front), request.holder());
  if (!request.is_head) TRY(reader.prefetch());
  response.source = std::make_unique<RawBody>(std::move(reader), bytes.size);
  return response;
}

Result<Response> json_download(storage::FindResult found, storage::Prefetched front, const Request& request,
                               DownloadDeps deps) {
  auto size = found.object.size;
  if (size > storage::kMaxInlineBytes)
    return fail(Code::too_large, "'{}' has {} bytes; JSON goes up to {}. Fetch it with raw=1",
                found.asset.name, size, storage::kMaxInlineBytes);
  OrderedJson head{
      {"name", found.asset.name},
      {"filename", found.asset.name},
      {"backend", found.asset.backend},
      {"size", size},
      {"digest", found.asset.digest.empty() ? OrderedJson(nullptr) : OrderedJson(found.asset.digest)},
      {"content_b64", ""}};
  auto text = dump_json(head);
  text.resize(text.size() - 2);  // without the closing quote and brace
  Response response;
  response.headers.add("ETag", entity_tag(found.object));
  storage::AssetReader reader(std::move(found), 0, size, deps.buffers, deps.clock, std::move(front),
                              request.holder());
  if (!request.is_head) TRY(reader.prefetch());
  response.source = std::make_unique<JsonBody>(std::move(reader), std::move(text), "\"}");
  return response;
}

Result<Response> download(const FindAsset& find, bool is_raw, const Request& request, DownloadDeps deps) {
  auto attempt = [&]() -> Result<Response> {
    auto [found, front] = TRY(find());
    return is_raw ? raw_download(std::move(found), std::move(front), request, deps)
                  : json_download(std::move(found), std::move(front), request, deps);
  };
  for (int i = 0; i < kMaxReads; ++i) {
    auto response = attempt();
    if (response || response.error().code != Code::precondition) return response;
    if (request.header("If-Match"))
      return fail(Code::precondition, "the asset is not what If-Match names: it was replaced");
  }
  return Failure(busy(std::chrono::seconds(1), "the asset is replaced again and again; try again shortly"));
}

}  // namespace dash::daemon
