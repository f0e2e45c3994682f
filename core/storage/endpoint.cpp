#include "core/storage/endpoint.hpp"

#include "core/base/text.hpp"
#include "core/net/http_date.hpp"
#include "core/storage/backends.hpp"

namespace dash::storage {
namespace {

// The strictest of the clouds refuses a clock that is five minutes off; below that the clock is not the
// cause.
constexpr std::chrono::minutes kSuspiciousSkew{4};

std::size_t host_start(std::string_view url) { return url.find("://") + 3; }

}  // namespace

std::string_view Endpoint::host() const {
  auto rest = std::string_view(url).substr(host_start(url));
  return rest.substr(0, rest.find('/'));
}

std::string_view Endpoint::path() const {
  auto slash = url.find('/', host_start(url));
  return slash == url.npos ? std::string_view() : std::string_view(url).substr(slash);
}

Result<Endpoint> read_endpoint(const config::Values& values, std::string_view backend,
                               std::string_view usual) {
  auto key = fmt::format("storage_{}_endpoint", backend);
  auto text = value_of(values, key);
  auto url = trim(text).empty() ? usual : trim(text);
  while (url.ends_with('/')) url.remove_suffix(1);
  bool is_http = url.starts_with("http://") || url.starts_with("https://");
  bool is_plain = is_http && host_start(url) < url.size();
  for (char c : url) is_plain = is_plain && c > ' ' && c < '\x7f' && c != '?' && c != '#' && c != '@';
  if (!is_plain) return fail(Code::invalid, "{} must be an address such as https://host:port", key);
  Endpoint endpoint{std::string(url), {}};
  endpoint.trust.ca_bundle = trim(value_of(values, fmt::format("storage_{}_ca_file", backend)));
  return endpoint;
}

std::string clock_note(const net::Headers& headers, Time now) {
  auto theirs = net::parse_http_date(headers.get("Date").value_or(""));
  if (!theirs || (*theirs - now < kSuspiciousSkew && now - *theirs < kSuspiciousSkew)) return "";
  auto minutes = std::chrono::duration_cast<std::chrono::minutes>(now - *theirs).count();
  return fmt::format("; this machine's clock is {} minutes {} the store's: set it right", std::abs(minutes),
                     minutes < 0 ? "behind" : "ahead of");
}

}  // namespace dash::storage
