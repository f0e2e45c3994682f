// The address of a bucket: endpoint, region, path or host style. Pure over the settings. Called by store.cpp.
#pragma once
#include <string>
#include <string_view>

#include "core/config/encrypted_store.hpp"

namespace dash::storage::s3 {

struct Address {
  std::string scheme;  // "https"
  std::string host;    // with the port, when it is not the scheme's own
  std::string base;    // "/bucket" in path style, "" in host style; encoded, after the endpoint's own path
  std::string bucket;
  std::string region;
  std::string ca_file;

  // Returns "https://host/bucket", the same whatever the style.
  std::string place() const;
  // Returns the encoded path of a key, "/" for the bucket itself.
  std::string path_of(std::string_view key) const;
  std::string url_of(std::string_view path, std::string_view query) const;

 private:
  friend Result<Address> read_address(const config::Values& values);
  std::string endpoint_;
};

// Returns the setting without surrounding blanks; "" when it is not set.
std::string setting(const config::Values& values, std::string_view key);

// Reads storage_obj_cloud1_bucket, _region (else cloud1_region, else us-east-1), _endpoint (else the cloud's
// own), _path_style (default: for a bucket whose name is no host name, and for any custom endpoint),
// _ca_file. Code::invalid names the setting.
Result<Address> read_address(const config::Values& values);

}  // namespace dash::storage::s3
