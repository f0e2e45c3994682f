#include "core/storage/store/s3/address.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/config/settings.hpp"
#include "core/net/http/http_client.hpp"
#include "core/storage/store/backends.hpp"
#include "core/storage/store/endpoint.hpp"

namespace dash::storage::s3 {
namespace {

constexpr std::string_view kDefaultRegion = "us-east-1";
constexpr std::string_view kPathStyle = "storage_obj_cloud1_path_style";

// Returns whether the bucket can be a label of a host name under a wildcard certificate.
bool is_host_label(std::string_view bucket) {
  auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return bucket.size() >= 3 && bucket.size() <= 63 && std::ranges::all_of(bucket, plain);
}

std::string default_endpoint(std::string_view region) {
  return fmt::format("https://s3.{}.amazonaws.com{}", region, region.starts_with("cn-") ? ".cn" : "");
}

}  // namespace

std::string setting(const config::Values& values, std::string_view key) {
  return std::string(trim(value_of(values, key)));
}

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
  auto endpoint = TRY(read_endpoint(values, "obj_cloud1", default_endpoint(address.region)));
  bool is_custom = !setting(values, "storage_obj_cloud1_endpoint").empty();
  auto path_style = TRY(config::parse_flag(kPathStyle, value_of(values, kPathStyle),
                                           is_custom || !is_host_label(address.bucket)));
  address.ca_file = endpoint.trust.ca_bundle;
  address.endpoint_ = endpoint.url;
  address.scheme = endpoint.scheme();
  address.host = endpoint.host();
  if (!path_style) address.host = fmt::format("{}.{}", address.bucket, endpoint.host());
  address.base = endpoint.path();
  if (path_style) address.base += "/" + net::percent_encode(address.bucket);
  return address;
}

}  // namespace dash::storage::s3
