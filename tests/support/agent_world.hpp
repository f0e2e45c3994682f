// The dashboard's queue of agents' jobs over a scratch database, and agents of this process that lease from it and
// answer as a test says. Two AgentWorlds over one database are two replicas.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "core/agent/dashboard/agent_jobs.hpp"
#include "core/agent/dashboard/agent_rows.hpp"
#include "core/agent/dashboard/remote_share.hpp"
#include "core/agent/protocol/storage_job.hpp"
#include "core/agent/protocol/storage_result.hpp"
#include "core/crypto/hash.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"

namespace dash::agent {

// Adds an agent that enrolled and was heard just now.
inline Agent insert_online_agent(db::Sql& sql, const Clock& clock, const std::string& name,
                                 std::vector<std::string> granted, const std::string& version = "2.7.0",
                                 const std::string& features = R"(["ranges","pages"])") {
  Agent agent;
  agent.id = crypto::uuid4();
  agent.name = name;
  agent.allowed_job_types = std::move(granted);
  agent.created_at = clock.now();
  agent.created_by = "root";
  return must(
             db::write<std::optional<Agent>>(sql,
                                             [&](db::Transaction& tx) -> Result<std::optional<Agent>> {
                                               TRY(insert_agent(tx, agent));
                                               TRY(tx.exec(R"(UPDATE agents
                   SET public_key = $2, enrolled_at = $3, last_seen_at = $3, agent_version = $4, features = $5
                   WHERE id = $1)",
                                                           {agent.id, crypto::to_base64(std::string(32, 'k')),
                                                            to_micros(clock.now()), version, features}));
                                               return select_agent(tx, agent.id);
                                             }))
      .value();
}

struct AgentWorld {
  AgentWorld() { set("remote_agents_enabled", "true"); }

  void set(const std::string& key, const std::string& value) {
    must(config.apply({{key, value}}, {"root", "test"}));
  }
  Agent add_agent(const std::string& name, std::vector<std::string> granted = {std::string(kStorageJobType)},
                  const std::string& version = "2.7.0",
                  const std::string& features = R"(["ranges","pages"])") {
    return insert_online_agent(*sql, clock, name, std::move(granted), version, features);
  }
  // Changes a column of the agent's row.
  void change(const std::string& id, const std::string& column, db::Value value) {
    must(sql->write([&](db::Transaction& tx) -> Result<void> {
      TRY(tx.exec(fmt::format("UPDATE agents SET {} = $2 WHERE id = $1", column), {id, std::move(value)}));
      return {};
    }));
  }
  std::int64_t jobs_made() {
    return must(db::read<std::int64_t>(*sql, [&](db::Transaction& tx) -> Result<std::int64_t> {
      return TRY(tx.query("SELECT count(*) FROM agent_jobs")).at(0).integer(0);
    }));
  }

  Scratch scratch;
  FakeClock clock;
  std::unique_ptr<db::Sql> sql = scratch_database(scratch);
  config::EncryptedStore config{*sql, clock, Secret(std::string(32, 'c'))};
};

// One process of the dashboard.
struct AgentReplica {
  explicit AgentReplica(AgentWorld& of) : world(of) { jobs.on_answer(drop_listing_of); }
  RemoteShare share(const std::string& agent, bool has_password = false) {
    return RemoteShare({jobs, listings, under_way, callers}, {agent, "lab", "web", has_password});
  }

  AgentWorld& world;
  config::Settings settings{world.config};
  audit::Log audit{*world.sql, world.clock, Secret(std::string(32, 'a'))};
  AgentJobs jobs{{*world.sql, world.clock, world.config, settings, audit}};
  ListingCache listings{*world.sql, world.clock, world.config};
  ListingsUnderWay under_way;
  ShareCallers callers;
};

// An agent in a thread of its own.
class ScriptedAgent {
 public:
  // Gets the job as it was leased.
  using Answer = std::function<Completion(const Json& job)>;
  ScriptedAgent(AgentJobs& jobs, Agent agent, Answer answer)
      : jobs_(jobs), agent_(std::move(agent)), answer_(std::move(answer)), thread_([this] { run(); }) {}
  ~ScriptedAgent() { is_stopped_ = true; }
  ScriptedAgent(const ScriptedAgent&) = delete;
  ScriptedAgent& operator=(const ScriptedAgent&) = delete;

 private:
  void run() {
    while (!is_stopped_) {
      auto reply = must(jobs_.lease(agent_));
      if (reply.job.is_null()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      auto completion = answer_(reply.job);
      // A job that was cancelled meanwhile takes the answer or not; the one who waits decides what it shows.
      std::ignore = jobs_.complete(agent_, reply.job.at("job_id").get<std::string>(), completion);
    }
  }
  AgentJobs& jobs_;
  const Agent agent_;
  const Answer answer_;
  std::atomic<bool> is_stopped_ = false;
  std::jthread thread_;
};

inline Completion completed(Json result) { return {true, std::move(result), ""}; }
inline Completion failed(std::string error) { return {false, Json::object(), std::move(error)}; }

// The folder of an agent's share, in memory: what an agent of this release does with a storage job, or with
// `is_deployed` one that knows neither ranges nor pages. Thread-safe.
class SharedFolder {
 public:
  explicit SharedFolder(bool is_deployed = false) : is_deployed_(is_deployed) {}

  Completion answer(const Json& payload) {
    std::lock_guard lock(mutex_);
    ++ops_[payload.at("op")];
    auto job = must(read_storage_job(payload));
    if (failure) return failed(*failure);
    switch (job.op) {
      case StorageOp::list:
        return list(job);
      case StorageOp::fetch:
        return fetch(job);
      case StorageOp::upload:
        files_[job.name] = job.content;
        return completed(to_json(UploadJobResult{job.content.size(), etag(job.name)}));
      case StorageOp::remove:
        return remove(job.name);
    }
    return failed("no such operation");
  }
  void put(const std::string& name, std::string bytes) {
    std::lock_guard lock(mutex_);
    files_[name] = std::move(bytes);
  }
  void erase(const std::string& name) {
    std::lock_guard lock(mutex_);
    files_.erase(name);
  }
  std::string bytes_of(const std::string& name) {
    std::lock_guard lock(mutex_);
    return files_.at(name);
  }
  bool has(const std::string& name) {
    std::lock_guard lock(mutex_);
    return files_.contains(name);
  }
  int count(const std::string& op) {
    std::lock_guard lock(mutex_);
    return ops_[op];
  }

  std::optional<std::string> failure;  // of every operation, set before the agent runs
  std::size_t page_files = 1000;

 private:
  std::string etag(const std::string& name) {
    return is_deployed_ ? "" : crypto::to_hex(crypto::sha256(files_.at(name)));
  }
  Completion remove(const std::string& name) {
    bool existed = files_.erase(name) > 0;
    return completed(is_deployed_ ? Json{{"deleted", name}} : to_json(RemoveJobResult{name, existed}));
  }
  Completion list(const StorageJob& job) {
    ListJobResult out;
    auto it = job.cursor ? files_.upper_bound(*job.cursor) : files_.begin();
    for (; it != files_.end(); ++it) {
      if (job.cursor && out.files.size() == page_files) {
        out.cursor = out.files.back().name;
        break;
      }
      out.files.push_back({it->first, it->second.size(), etag(it->first)});
    }
    return completed(to_json(out));
  }
  Completion fetch(const StorageJob& job) {
    auto it = files_.find(job.name);
    if (it == files_.end())
      return failed((is_deployed_ ? "no file " : std::string(kFileNotFound)) + job.name);
    if (!job.offset) return completed(to_json(FetchJobResult{it->second}));
    auto from = std::min<std::size_t>(static_cast<std::size_t>(*job.offset), it->second.size());
    auto piece = it->second.substr(from, static_cast<std::size_t>(job.length.value_or(0)));
    return completed(to_json(FetchJobResult{std::move(piece), it->second.size(), etag(job.name)}));
  }

  const bool is_deployed_;
  std::mutex mutex_;
  std::map<std::string, std::string> files_;
  std::map<std::string, int> ops_;
};

}  // namespace dash::agent
