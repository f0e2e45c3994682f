// The jobs module over a scratch database with a fake gate and a fake clock, three users and a workgroup.
#pragma once
#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "core/audit/read.hpp"
#include "core/jobs/jobs.hpp"
#include "core/jobs/worker.hpp"
#include "core/windows/workgroups.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fake_gate.hpp"
#include "tests/support/scratch.hpp"

namespace dash {

class JobsFixture : public testing::Test {
 protected:
  using Open = std::function<std::unique_ptr<db::Sql>(const Scratch&)>;
  JobsFixture() : JobsFixture([](const Scratch& scratch) { return scratch_database(scratch); }) {}
  explicit JobsFixture(const Open& open) : sql_(open(scratch_)) {
    must(sql_->write([&](db::Transaction& tx) -> Result<void> {
      TRY(directory_.make_workgroup(tx, "team-a", ""));
      return {};
    }));
  }

  static Principal user(std::string name, std::set<std::string> grants = {},
                        std::set<std::string> groups = {}) {
    return {std::move(name), false, std::move(grants), std::move(groups), Via::session, "10.0.0.7", "r1"};
  }
  static Json machine() {
    return {{"region", "us-east-1"}, {"instance_type", "t3.large"}, {"image", "ami-1"}, {"name", "web"}};
  }
  static Json machine(Json more) {
    auto out = machine();
    out.update(more);
    return out;
  }

  Result<jobs::SubmitResult> deploy(const Json& body = machine()) { return deploy_as(alice_, body); }
  Result<jobs::SubmitResult> deploy_as(const Principal& principal, const Json& body) {
    return jobs_.submit(principal, {"cloud1:vm:deploy", body, ""});
  }
  jobs::Job deployed(const Json& body = machine()) { return must(deploy(body)).jobs.at(0); }
  Result<jobs::SubmitResult> destroy(const Principal& principal, std::string target,
                                     std::string action = "cloud1:vm:destroy") {
    return jobs_.submit(principal, {std::move(action), Json::object(), std::move(target)});
  }
  jobs::Job job(const std::string& id) { return must(jobs_.show(root_, id)); }
  jobs::State state(const std::string& id) { return job(id).state; }

  void set(const std::string& key, const std::string& value) {
    must(store_.apply({{key, value}}, {"test", "test"}));
  }
  std::vector<std::string> audited() {
    std::vector<std::string> out;
    for (const auto& entry : must(audit::list(audit_, root_, {})).entries)
      out.insert(out.begin(), entry.action);
    return out;
  }
  // Returns the ids that four workers get when they claim at once until nothing is left.
  std::vector<std::string> claimed_by_four(const jobs::Executors& executors) {
    std::mutex mutex;
    std::vector<std::string> claimed;
    auto claim = [&](int n) {
      jobs::Worker worker(deps_, executors, std::to_string(n));
      while (auto job = must(worker.claim())) {
        std::lock_guard lock(mutex);
        claimed.push_back(job->id);
      }
    };
    std::vector<std::jthread> threads;
    for (int n = 0; n < 4; ++n) threads.emplace_back(claim, n);
    threads.clear();
    return claimed;
  }
  std::int64_t count_jobs() { return must(jobs_.list(root_, {})).total; }

  Scratch scratch_;
  FakeClock clock_{"2026-07-03T14:00:00Z"};  // a Friday
  std::unique_ptr<db::Sql> sql_;
  config::EncryptedStore store_{*sql_, clock_, Secret(std::string(32, 's'))};
  config::Settings settings_{store_};
  audit::Log audit_{*sql_, clock_, Secret(std::string(32, 'k'))};
  identity::Directory directory_{*sql_, clock_};
  FakeGate gate_;
  windows::Windows windows_{*sql_, clock_, audit_};
  windows::Workgroups workgroups_{*sql_, directory_, audit_, windows_};
  jobs::Runners runners_;
  jobs::Deps deps_{*sql_, clock_, store_, settings_, audit_, gate_, windows_, runners_};
  jobs::Jobs jobs_{deps_};
  Principal alice_ = user("alice");
  Principal bob_ = user("bob", {"change_windows:use"});
  Principal carol_ = user("carol", {}, {"team-a"});
  Principal root_{"root", true, {}, {}, Via::session, "", ""};
};

}  // namespace dash
