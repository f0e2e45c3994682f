// What the storage commands ask of an instance: through its API, or directly on its data directory. Both
// doors give the same JSON (the to_json of core/storage), so the commands print the same. One thread.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/net/api_client.hpp"
#include "core/storage/storage.hpp"

namespace dash::storage {

using Sink = std::function<Result<void>(std::string_view bytes)>;

class Desk {
 public:
  virtual ~Desk() = default;
  // Names the instance in messages and in the key of a resumable upload.
  virtual std::string name() const = 0;

  virtual Result<Json> backends() = 0;
  virtual Result<Json> list(const std::string& backend) = 0;  // blank: the active one
  virtual Result<Json> remove(const std::string& name) = 0;
  virtual Result<Json> test(const std::string& backend, bool is_deep) = 0;

  virtual Result<Json> upload(const std::string& name, std::string_view bytes) = 0;
  virtual Result<Json> begin(const std::string& name, std::uint64_t size) = 0;
  virtual Result<Json> put_part(const std::string& handle, std::uint32_t n, std::string_view bytes) = 0;
  virtual Result<Json> status(const std::string& handle) = 0;
  virtual Result<Json> commit(const std::string& handle, const Json& parts) = 0;
  virtual Result<Json> abort(const std::string& handle) = 0;

  // The whole asset into `sink`, in order; `digest` is known before the first byte, or empty. Returns its
  // size.
  struct Head {
    std::uint64_t size = 0;
    std::string digest;
  };
  virtual Result<Head> fetch(const std::string& backend, const std::string& name, const Sink& sink) = 0;
};

std::unique_ptr<Desk> open_api_desk(net::ApiClient& api);
struct LocalDesk {
  Storage& storage;
  identity::Principal who;
  PartPool& parts;
  const Clock& clock;
  std::string data_dir;
};
std::unique_ptr<Desk> open_local_desk(LocalDesk seams);

}  // namespace dash::storage
