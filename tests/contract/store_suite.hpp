// What the suites over all stores share: a store of each kind against its real server, and a folder in it for
// each test. The promises of ObjectStore are in core/storage/store/store.hpp; store_objects_test.cpp,
// store_uploads_test.cpp and store_faults_test.cpp check them by theme. One store alone:
// --gtest_filter='*/Store*Contract.*/obj_cloud1'.
#pragma once
#include <gtest/gtest.h>

#include <set>

#include "core/base/buffer_pool.hpp"
#include "core/crypto/hash.hpp"
#include "core/net/http/http_client.hpp"
#include "tests/contract/stores_under_test.hpp"
#include "tests/support/must.hpp"

namespace dash::storage {

inline std::string pattern(std::size_t size, unsigned seed = 0) {
  std::string bytes(size, '\0');
  std::uint32_t state = 2463534242u + seed;
  for (auto& c : bytes) {
    state = state * 1664525u + 1013904223u;
    c = static_cast<char>(state >> 24);
  }
  return bytes;
}

class StoreSuite : public testing::TestWithParam<StoreUnderTest> {
 protected:
  void SetUp() override {
    settings_ = GetParam().settings();
    GetParam().prepare(settings_, deps());
    store_ = open(settings_);
  }

  StoreDeps deps(const Clock* clock = nullptr) { return {*http_, clock ? *clock : clock_, "/proc/self/exe"}; }
  std::unique_ptr<ObjectStore> open(const config::Values& settings, const Clock* clock = nullptr) {
    if (GetParam().open) return GetParam().open(settings);
    return must(open_bare_store(*must(find_backend(GetParam().backend)), settings, deps(clock)));
  }

  std::string key(std::string_view name) const { return folder_ + std::string(name); }

  std::set<std::string> listed() {
    std::set<std::string> names;
    std::string cursor;
    do {
      auto page = must(store_->list(folder_, cursor));
      for (const auto& object : page.objects) names.insert(object.key.substr(folder_.size()));
      cursor = page.cursor;
    } while (!cursor.empty());
    return names;
  }

  std::string whole(const std::string& of) {
    std::string bytes;
    std::string part(kPartBytes, '\0');
    for (;;) {
      auto n = must(store_->read(of, bytes.size(), "", part));
      bytes.append(part, 0, n);
      if (n < part.size()) return bytes;
    }
  }

  // Stages `bytes` in parts and returns the upload.
  std::string staged(const std::string& of, std::string_view bytes) {
    auto upload = must(store_->begin(of, bytes.size()));
    std::uint32_t n = 0;
    for (std::size_t at = 0; at < bytes.size() || n == 0; at += kPartBytes) {
      auto part = bytes.substr(at, kPartBytes);
      must(store_->put_part(upload, ++n, part, at + part.size() == bytes.size()));
    }
    return upload;
  }
  Object committed(const std::string& of, std::string_view bytes) {
    auto upload = staged(of, bytes);
    return must(store_->commit(upload, must(store_->staged_parts(upload)), {}));
  }

  SystemClock clock_;
  std::unique_ptr<net::HttpClient> http_ = net::make_curl_client();
  // What the keys of a test begin with.
  std::string folder_ = "t" + crypto::random_hex(8) + (GetParam().is_flat ? "-" : "/");
  config::Values settings_;
  std::unique_ptr<ObjectStore> store_;
};

inline void PrintTo(const StoreUnderTest& store, std::ostream* out) { *out << store.name; }

inline std::string test_name(const testing::TestParamInfo<StoreUnderTest>& info) {
  return std::string(info.param.name);
}

}  // namespace dash::storage
