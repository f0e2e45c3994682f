// What takes long with images, as jobs "storage:image": placing one that a build exported on the hub, and
// promoting one to a cloud. Run by the caller that waits, or by any worker of the instance. Cancelling a job
// stops it within a piece; when its process dies it goes back to the queue. It runs
// only while its requester is an active admin. Thread-safe.
#pragma once
#include <functional>
#include <variant>

#include "core/images/placing.hpp"
#include "core/images/promotion.hpp"
#include "core/jobs/run_now.hpp"

namespace dash::images {

using ImageRequest = std::variant<PlaceRequest, PromoteRequest>;

class ImageJobs {
 public:
  ImageJobs(const ImageJobDeps& deps, const jobs::Deps& jobs)
      : directory_(deps.directory), audit_(deps.audit), jobs_(jobs), placing_(deps), promotion_(deps) {}

  // Checks the request and makes a pending job. Code::conflict, naming the job, while another one does the
  // same with that name; else the errors of Placing::check() and Promotion::check().
  Result<jobs::Job> enqueue(const Principal& principal, const ImageRequest& request);
  // Does it in this thread and returns the job's result. Stops when `is_abandoned` returns true.
  Result<OrderedJson> run(const Principal& principal, const ImageRequest& request,
                          const std::function<bool()>& is_abandoned, const jobs::OnProgress& on_progress);

  jobs::RunnerEntry runner();

 private:
  // A job that is not inserted yet.
  struct Draft {
    jobs::Job job;
    Json parameters;
    jobs::OnInsert on_insert;
  };
  Result<Draft> draft(const Principal& principal, const ImageRequest& request);
  identity::Directory& directory_;
  audit::Log& audit_;
  const jobs::Deps& jobs_;
  Placing placing_;
  Promotion promotion_;
};

}  // namespace dash::images
