#include "core/storage/store/endpoint.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/net/http/http_date.hpp"
#include "core/storage/store/backends.hpp"

namespace dash::storage {
namespace {

// The strictest of the clouds refuses a clock that is five minutes off. Below that the clock is not the
// cause.
constexpr std::chrono::minutes kMinReportedSkew{4};

constexpr std::string_view kSchemeEnd = "://";

std::size_t host_start(std::string_view url) { return url.find(kSchemeEnd) + kSchemeEnd.size(); }

bool is_plain(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return c > ' ' && c < '\x7f' && c != '?' && c != '#' && c != '@'; });
}

}  // namespace

std::string_view Endpoint::scheme() const { return std::string_view(url).substr(0, url.find(kSchemeEnd)); }

std::string_view Endpoint::host() const {
  auto rest = std::string_view(url).substr(host_start(url));
  return rest.substr(0, rest.find('/'));
}

std::string_view Endpoint::path() const {
  auto slash = url.find('/', host_start(url));
  return slash == url.npos ? std::string_view() : std::string_view(url).substr(slash);
}

Result<Endpoint> read_endpoint(const config::Values& values, std::string_view backend,
                               std::string_view default_url) {
  auto key = fmt::format("storage_{}_endpoint", backend);
  auto own = value_of(values, key);
  auto text = trim(own).empty() ? default_url : trim(own);
  auto rest = text.find(kSchemeEnd) == text.npos ? text : text.substr(host_start(text));
  auto scheme = rest.size() == text.size() ? "https" : lower(text.substr(0, text.find(kSchemeEnd)));
  while (rest.ends_with('/')) rest.remove_suffix(1);
  auto host = rest.substr(0, rest.find('/'));
  auto path = rest.substr(host.size());
  std::string_view own_port = scheme == "https" ? ":443" : ":80";
  if (host.ends_with(own_port)) host.remove_suffix(own_port.size());
  if ((scheme != "https" && scheme != "http") || host.empty() || !is_plain(rest))
    return fail(Code::invalid, "{} must be an address such as https://host:port", key);
  Endpoint endpoint{fmt::format("{}://{}{}", scheme, lower(host), path), {}};
  endpoint.trust.ca_bundle = trim(value_of(values, fmt::format("storage_{}_ca_file", backend)));
  return endpoint;
}

std::string clock_note(const net::Headers& headers, Time now) {
  auto theirs = net::parse_http_date(headers.get("Date").value_or(""));
  if (!theirs || (*theirs - now < kMinReportedSkew && now - *theirs < kMinReportedSkew)) return "";
  auto minutes = std::chrono::duration_cast<std::chrono::minutes>(now - *theirs).count();
  return fmt::format("; this machine's clock is {} minutes {} the store's: set it right", std::abs(minutes),
                     minutes < 0 ? "behind" : "ahead of");
}

Result<void> check_clock_skew(const net::Headers& headers, Time now) {
  auto note = clock_note(headers, now);
  if (note.empty()) return {};
  return fail(Code::upstream, "nothing was swept, because ages are unknown{}", note);
}

}  // namespace dash::storage
