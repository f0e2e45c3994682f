#include "core/storage/store/redacting_store.hpp"

#include <algorithm>

namespace dash::storage {
namespace {

constexpr std::string_view kUrlSchemeEnd = "://";
constexpr std::string_view kUncStart = "\\\\";
constexpr std::string_view kRedacted = "the store";

bool is_scheme_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
         c == '.';
}
bool ends_address(char c) { return std::string_view(" \t\r\n'\"<>(),;").find(c) != std::string_view::npos; }

// Returns the end of the word at `from`, without the punctuation of the sentence.
std::size_t address_end(std::string_view text, std::size_t from) {
  auto end = static_cast<std::size_t>(std::ranges::find_if(text.substr(from), ends_address) -
                                      text.substr(from).begin());
  end += from;
  while (end > from && (text[end - 1] == ':' || text[end - 1] == '.')) --end;
  return end;
}

std::string_view host_of(std::string_view url) {
  auto scheme = url.find(kUrlSchemeEnd);
  if (scheme == url.npos) return "";
  url.remove_prefix(scheme + kUrlSchemeEnd.size());
  return url.substr(0, url.find('/'));
}

// Adds the hosts of the removed URLs to `hosts`.
std::string without_urls(std::string_view text, std::vector<std::string>& hosts) {
  std::string out;
  while (!text.empty()) {
    auto url = text.find(kUrlSchemeEnd);
    auto unc = text.find(kUncStart);
    auto at = std::min(url, unc);
    if (at == text.npos) break;
    auto begin = at;
    while (at == url && begin > 0 && is_scheme_char(text[begin - 1])) --begin;
    out += text.substr(0, begin);
    out += kRedacted;
    auto end = std::max(address_end(text, begin), at + kUncStart.size());
    hosts.emplace_back(host_of(text.substr(begin, end - begin)));
    text.remove_prefix(end);
  }
  return out + std::string(text);
}

std::string without_word(std::string text, std::string_view word) {
  auto is_inside = [&](std::size_t i) {
    return i < text.size() && is_scheme_char(text[i]) && text[i] != '.';
  };
  for (auto at = text.find(word); at != text.npos && !word.empty(); at = text.find(word, at)) {
    if ((at > 0 && is_inside(at - 1)) || is_inside(at + word.size())) {
      at += word.size();
      continue;
    }
    text.replace(at, word.size(), kRedacted);
    at += kRedacted.size();
  }
  return text;
}

// Replaces the host in the form "host:port", as curl writes it, and without the port.
std::string without_host(std::string text, std::string_view host) {
  auto colon = host.rfind(':');
  auto name = host.substr(0, colon);
  if (colon != host.npos) {
    text = without_word(std::move(text), host);
    text = without_word(std::move(text), fmt::format("{} port {}", name, host.substr(colon + 1)));
  }
  return without_word(std::move(text), name);
}

class RedactingStore final : public ObjectStore {
 public:
  explicit RedactingStore(std::shared_ptr<ObjectStore> store) : store_(std::move(store)) {}

  Capabilities capabilities() const override { return store_->capabilities(); }
  std::string place() const override { return store_->place(); }

  Result<ObjectPage> list(std::string_view prefix, std::string_view cursor) override {
    return redact(store_->list(prefix, cursor));
  }
  Result<void> forget_listing() override { return redact(store_->forget_listing()); }
  Result<Object> head(const std::string& key) override { return redact(store_->head(key)); }
  Result<std::uint64_t> read(const std::string& key, ByteRange range, std::string_view must_match,
                             RandomWriter& out) override {
    return redact(store_->read(key, range, must_match, out));
  }
  Result<OpenResult> open(const std::string& key, std::span<char> out) override {
    return redact(store_->open(key, out));
  }
  Result<Object> put(const std::string& key, const Payload& payload, const PutOptions& options) override {
    return redact(store_->put(key, payload, options));
  }
  Result<void> remove(const std::string& key) override { return redact(store_->remove(key)); }
  Result<std::string> begin(const std::string& key, std::optional<std::uint64_t> size) override {
    return redact(store_->begin(key, size));
  }
  Result<std::string> begin_at_once(const std::string& key, std::uint64_t size) override {
    return redact(store_->begin_at_once(key, size));
  }
  Result<std::string> put_part(const std::string& upload, std::uint32_t n, const Payload& payload,
                               bool is_last) override {
    return redact(store_->put_part(upload, n, payload, is_last));
  }
  Result<std::vector<StagedPart>> staged_parts(const std::string& upload) override {
    return redact(store_->staged_parts(upload));
  }
  Result<Object> commit(const std::string& upload, const std::vector<StagedPart>& parts,
                        const PutOptions& options) override {
    return redact(store_->commit(upload, parts, options));
  }
  Result<void> abort(const std::string& upload) override { return redact(store_->abort(upload)); }
  Result<void> check_target(const std::string& key) override { return redact(store_->check_target(key)); }
  Result<std::vector<Leftover>> leftovers(std::string_view prefix, Time older_than) override {
    return redact(store_->leftovers(prefix, older_than));
  }
  Result<std::optional<std::string>> find_lease(const std::string& key) override {
    return redact(store_->find_lease(key));
  }
  Result<void> take_lease(const std::string& key, const std::string& id, const std::string& note) override {
    return redact(store_->take_lease(key, id, note));
  }
  Result<void> release_lease(const std::string& key, const std::string& id) override {
    return redact(store_->release_lease(key, id));
  }
  Result<void> drop(const Leftover& leftover) override { return redact(store_->drop(leftover)); }
  Result<VersionsResult> versions(const std::string& key) override { return redact(store_->versions(key)); }
  Result<void> remove_unchanged(const Object& object) override {
    return redact(store_->remove_unchanged(object));
  }
  Result<Object> copy_inside(const InsideCopy& copy) override { return redact(store_->copy_inside(copy)); }

 private:
  template <class T>
  Result<T> redact(Result<T> result) const {
    if (!result) return Failure(redact_addresses(std::move(result).error(), store_->place()));
    return result;
  }
  std::shared_ptr<ObjectStore> store_;
};

}  // namespace

Error redact_addresses(Error error, std::string_view place) {
  std::vector<std::string> hosts{std::string(host_of(place))};
  auto shown = without_urls(error.message, hosts);
  // A bucket's own host ends in that of its store, which would cut it in two.
  std::ranges::sort(hosts, std::ranges::greater{}, &std::string::size);
  for (const auto& host : hosts) shown = without_host(std::move(shown), host);
  if (shown == error.message) return error;
  error.detail += (error.detail.empty() ? "" : "; ") + error.message;
  error.message = std::move(shown);
  return error;
}

std::shared_ptr<ObjectStore> with_redaction(std::shared_ptr<ObjectStore> store) {
  return std::make_shared<RedactingStore>(std::move(store));
}

}  // namespace dash::storage
