#include "core/deploy/state_server.hpp"

#include "core/base/log.hpp"
#include "core/crypto/hash.hpp"
#include "core/storage/settings/state_document.hpp"

namespace dash::deploy {
namespace {

constexpr std::size_t kPasswordBytes = 32;

bool is_data_source(std::string_view address) {
  return address.starts_with("data.") ||
         (address.starts_with("module.") && address.find(".data.") != address.npos);
}

// In the form in which programs write and read it.
std::string lock_json(const storage::StateLock& lock) {
  bool has_time = parse_iso(lock.created_at).has_value() || lock.created_at.find('.') != std::string::npos;
  return dump_json(OrderedJson{{"ID", lock.id},
                               {"Operation", lock.operation},
                               {"Info", ""},
                               {"Who", lock.who},
                               {"Version", ""},
                               {"Created", has_time ? lock.created_at : "0001-01-01T00:00:00Z"},
                               {"Path", ""}});
}

std::string id_of(const std::string& info) {
  auto json = parse_json(info);
  return json && json->is_object() ? string_member(*json, "ID").value_or("") : std::string();
}

}  // namespace

std::vector<std::string> managed_resources(std::string_view state) {
  std::vector<std::string> out;
  auto document = storage::parse_state(state);
  if (!document) return out;
  for (auto& resource : document->resources)
    if (!is_data_source(resource.address)) out.push_back(std::move(resource.address));
  return out;
}

std::string holder_text(const storage::StateLock& lock) {
  return fmt::format("{} ({}since {}, lock {})", lock.who.empty() ? "another program" : lock.who,
                     lock.operation.empty() ? "" : lock.operation + ", ",
                     lock.created_at.empty() ? "an unknown time" : lock.created_at,
                     lock.id.empty() ? "without an ID" : lock.id);
}

StateServer::StateServer(storage::LockedState& state, Records& records, std::string job_id)
    : state_(state),
      records_(records),
      job_id_(std::move(job_id)),
      password_(crypto::random_hex(kPasswordBytes)) {}

Result<std::unique_ptr<StateServer>> StateServer::start(storage::LockedState& state, Records& records,
                                                        std::string job_id) {
  std::unique_ptr<StateServer> out(new StateServer(state, records, std::move(job_id)));
  out->server_ = TRY(net::LoopbackServer::start(
      out->password_, storage::kMaxStateBytes,
      [raw = out.get()](const net::LoopbackRequest& request) { return raw->answer(request); }));
  return out;
}

std::vector<std::string> StateServer::environment() const {
  auto address = fmt::format("http://127.0.0.1:{}/state", server_->port());
  return {"TF_HTTP_ADDRESS=" + address, "TF_HTTP_LOCK_ADDRESS=" + address,
          "TF_HTTP_UNLOCK_ADDRESS=" + address, fmt::format("TF_HTTP_USERNAME={}", net::kLoopbackUser),
          "TF_HTTP_PASSWORD=" + password_.expose()};
}

std::optional<storage::StateLock> StateServer::foreign_lock() const {
  std::lock_guard guard(mutex_);
  return foreign_lock_;
}

net::LoopbackResponse StateServer::answer(const net::LoopbackRequest& request) {
  std::lock_guard guard(mutex_);
  auto response = handle(request);
  if (response) return *std::move(response);
  const auto& error = response.error();
  log::warning("deploy.state_failed",
               {{"job", job_id_}, {"method", request.method}, {"error", error.message}});
  return {error.code == Code::conflict ? 409 : 500, error.message};
}

Result<net::LoopbackResponse> StateServer::handle(const net::LoopbackRequest& request) {
  if (request.method == "GET") {
    auto text = TRY(state_.read());
    return text.empty() ? net::LoopbackResponse{404, {}} : net::LoopbackResponse{200, std::move(text)};
  }
  if (request.method == "LOCK") return lock(request.body);
  if (request.method == "UNLOCK") return unlock(request.body);
  if (request.method == "POST") return write(request);
  return net::LoopbackResponse{405, {}};
}

Result<net::LoopbackResponse> StateServer::lock(const std::string& info) {
  // Sent again after a lost answer.
  if (!state_.lock_id().empty() && id_of(info) == state_.lock_id()) return net::LoopbackResponse{};
  auto held = state_.lock_id().empty() ? TRY(state_.lock(info)) : TRY(state_.holder());
  if (held) {
    foreign_lock_ = held;
    return net::LoopbackResponse{423, lock_json(*held)};
  }
  foreign_lock_.reset();
  TRY(records_.set_lock(job_id_, state_.lock_id()));
  return net::LoopbackResponse{};
}

Result<net::LoopbackResponse> StateServer::unlock(const std::string& info) {
  if (id_of(info) != state_.lock_id() || state_.lock_id().empty())
    return fail(Code::conflict, "the lock on this state has another ID");
  TRY(state_.unlock());
  TRY(records_.set_lock(job_id_, ""));
  return net::LoopbackResponse{};
}

Result<net::LoopbackResponse> StateServer::write(const net::LoopbackRequest& request) {
  auto id = request.target.substr(std::min(request.target.find("?ID="), request.target.size()));
  if (state_.lock_id().empty() || id != "?ID=" + state_.lock_id())
    return fail(Code::conflict, "this state is not locked under this ID");
  if (!storage::parse_state(request.body)) return net::LoopbackResponse{400, "this is no state"};
  TRY(state_.write(request.body));
  TRY(records_.set_resources(job_id_, static_cast<std::int64_t>(managed_resources(request.body).size())));
  return net::LoopbackResponse{};
}

}  // namespace dash::deploy
