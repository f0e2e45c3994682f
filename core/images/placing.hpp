// Places an image that a build exported: copies it from the build's store to the hub, then deletes the
// build's object. Runs as a job (image_jobs.hpp). For admins, audited. Thread-safe.
#pragma once
#include <string>

#include "core/audit/log.hpp"
#include "core/base/buffer_pool.hpp"
#include "core/base/clock.hpp"
#include "core/base/json.hpp"
#include "core/base/principal.hpp"
#include "core/jobs/requester.hpp"
#include "core/jobs/runner.hpp"
#include "core/storage/settings/stores.hpp"
#include "core/storage/store/copy.hpp"

namespace dash::images {

inline constexpr std::string_view kImageAction = "storage:image";

struct PlaceRequest {
  std::string name;     // on the hub
  std::string backend;  // in either spelling
  std::string key;      // from the root of its bucket
};

struct ImageJobDeps {
  storage::Stores& stores;
  identity::Directory& directory;
  db::Sql& sql;
  audit::Log& audit;
  const Clock& clock;
  BufferPool& buffers;
};

class Placing {
 public:
  explicit Placing(ImageJobDeps deps) : deps_(deps) {}

  // Checks the request and returns the parameters of its job. Code::invalid for a name, a key or content that
  // no image has, Code::not_found without the object, Code::too_large, Code::conflict when the hub has an
  // image of the name, unless a run of the same request was begun: it may have placed that one.
  Result<OrderedJson> check(const Principal& principal, const PlaceRequest& request);
  // Does what check() allowed, and returns the job's result:
  //   {name, hub, size, format, digest, copied, source: {backend, key}, source_deleted, source_kept, job_id}
  // A run that another one left unfinished goes on where that can be seen. Code::precondition when the object
  // was replaced since, Code::conflict when the name was taken since or the settings changed.
  Result<OrderedJson> run(const Principal& principal, const jobs::Job& job, const Json& parameters,
                          jobs::RunControl& control);

 private:
  struct Sides {
    storage::OpenBackend hub, source;
    std::string target;  // key on the hub
    bool is_one_store() const { return hub.store->place() == source.store->place(); }
  };
  Result<Sides> open(const Principal& principal, const std::string& backend, const std::string& name);
  Result<storage::CopyResult> bring(const Sides& sides, const storage::Object& object,
                                    jobs::RunControl& control, bool& is_copied);
  Result<void> record(const Principal& principal, const jobs::Job& job, const Json& parameters,
                      const Sides& sides, const storage::CopyResult& image);
  std::string remove_source(const Principal& principal, const jobs::Job& job, const Sides& sides,
                            const storage::Object& object);
  ImageJobDeps deps_;
};

}  // namespace dash::images
