// Promotes an image: copies it from the hub, which is only read, to the staging place of a cloud. Runs as a job
// (image_jobs.hpp). For admins, audited. Thread-safe.
#pragma once
#include <string>

#include "core/images/placing.hpp"

namespace dash::images {

struct PromoteRequest {
  std::string name;   // on the hub
  std::string cloud;  // in either spelling
};

class Promotion {
 public:
  explicit Promotion(ImageJobDeps deps) : deps_(deps) {}

  // Checks the request and returns the parameters of its job. Code::not_found when the hub has no such image,
  // else as open_staging().
  Result<OrderedJson> check(const Principal& principal, const PromoteRequest& request);
  // Does what check() allowed, replaces what an earlier promotion staged, and returns the job's result:
  //   {name, hub, cloud, size, digest, staged: {backend, bucket, key}, next_step, job_id}
  // Code::precondition when the image was replaced since, Code::conflict when the settings changed.
  Result<OrderedJson> run(const Principal& principal, const jobs::Job& job, const Json& parameters,
                          jobs::RunControl& control);

 private:
  Result<std::string> known_digest(const storage::OpenBackend& hub, const std::string& name,
                                   const storage::Object& image);
  ImageJobDeps deps_;
};

}  // namespace dash::images
