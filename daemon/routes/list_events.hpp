// What changes in the lists of the API, as server-sent events: GET /api/events.
//   event: ready     {resumed}: the first one; without `resumed` the caller reads its lists again
//   event: approval  {job_id, status, awaiting, total}: a job that another user must approve, or had to
//   event: job       the job as in GET /api/jobs
//   event: agents    {}: the list of agents changed; for admins
// The id of an event is the number of the change. A caller gets what its lists would show it now. A stream that
// ends (drain, a right that was taken away) is resumed with Last-Event-ID, on any replica.
#pragma once
#include <memory>

#include "core/app/application.hpp"
#include "core/db/change_watcher.hpp"
#include "daemon/http/route.hpp"

namespace dash::daemon {

Result<Response> stream_lists(app::Application& app, const std::shared_ptr<db::ChangeWatcher>& watcher,
                              Authenticate authenticate, const Request& request);

}  // namespace dash::daemon
