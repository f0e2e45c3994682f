#include "core/storage/s3/address.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/config/settings.hpp"
#include "core/net/http_client.hpp"
#include "core/storage/backends.hpp"

namespace dash::storage::s3 {
namespace {

constexpr std::string_view kDefaultRegion = "us-east-1";
constexpr std::string_view kPathStyle = "storage_obj_cloud1_path_style";

std::string setting(const config::Values& values, std::string_view key) {
  return std::string(trim(value_of(values, key)));
}

// A bucket that can stand before a host name and be covered by a wildcard certificate.
bool is_host_label(std::string_view bucket) {
  auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return bucket.size() >= 3 && bucket.size() <= 63 && std::ranges::all_of(bucket, plain);
}

std::string cloud_endpoint(std::string_view region) {
  return fmt::format("https://s3.{}.amazonaws.com{}", region, region.starts_with("cn-") ? ".cn" : "");
}

struct Endpoint {
  std::string scheme;
  std::string host;
  std::string path;
};

Result<Endpoint> read_endpoint(const std::string& text) {
  auto url = text.find("://") == text.npos ? "https://" + text : text;
  auto colon = url.find("://");
  auto scheme = lower(url.substr(0, colon));
  auto rest = url.substr(colon + 3);
  auto slash = std::min(rest.find('/'), rest.size());
  auto host = lower(rest.substr(0, slash));
  auto path = rest.substr(slash);
  while (path.ends_with('/')) path.pop_back();
  if ((scheme != "http" && scheme != "https") || host.empty() || rest.find_first_of("@?# ") != rest.npos)
    return fail(Code::invalid, "storage_obj_cloud1_endpoint must be http(s)://host[:port], not '{}'", text);
  std::string_view own_port = scheme == "https" ? ":443" : ":80";
  if (host.ends_with(own_port)) host.resize(host.size() - own_port.size());
  return Endpoint{scheme, host, path};
}

}  // namespace

std::string Address::place() const { return fmt::format("{}/{}", endpoint_, bucket); }

std::string Address::path_of(std::string_view key) const {
  if (key.empty()) return base.empty() ? "/" : base;
  return base + "/" + net::percent_encode(key, true);
}

std::string Address::url_of(std::string_view path, std::string_view query) const {
  return fmt::format("{}://{}{}{}{}", scheme, host, path, query.empty() ? "" : "?", query);
}

Result<Address> read_address(const config::Values& values) {
  Address address;
  address.bucket = setting(values, "storage_obj_cloud1_bucket");
  if (address.bucket.empty()) return fail(Code::invalid, "storage_obj_cloud1_bucket is not set");
  if (address.bucket.find('/') != std::string::npos)
    return fail(Code::invalid, "storage_obj_cloud1_bucket is a bucket's name alone, without '/'");
  address.region = setting(values, "storage_obj_cloud1_region");
  if (address.region.empty()) address.region = setting(values, "cloud1_region");
  if (address.region.empty()) address.region = kDefaultRegion;
  address.ca_file = setting(values, "storage_obj_cloud1_ca_file");
  auto own = setting(values, "storage_obj_cloud1_endpoint");
  auto endpoint = TRY(read_endpoint(own.empty() ? cloud_endpoint(address.region) : own));
  address.endpoint_ = fmt::format("{}://{}{}", endpoint.scheme, endpoint.host, endpoint.path);
  address.scheme = endpoint.scheme;
  auto path_style = TRY(config::parse_flag(kPathStyle, value_of(values, kPathStyle),
                                           !own.empty() || !is_host_label(address.bucket)));
  address.host = path_style ? endpoint.host : address.bucket + "." + endpoint.host;
  address.base = endpoint.path + (path_style ? "/" + net::percent_encode(address.bucket) : "");
  return address;
}

}  // namespace dash::storage::s3
