#include "core/automation/run_tracker.hpp"

#include "core/automation/output_lines.hpp"
#include "core/jobs/run_now.hpp"
#include "tests/support/jobs_fixture.hpp"

namespace dash::automation {
namespace {

class FakeControl final : public jobs::RunControl {
 public:
  bool should_stop() const override { return false; }
  void log(std::string line) override { lines.push_back(std::move(line)); }
  void report(const jobs::JobProgress& value) override { progress = value; }
  void set_detail(std::string member, OrderedJson value) override { details[member] = std::move(value); }
  Result<void> flush() override { return {}; }
  std::vector<std::string> lines;
  jobs::JobProgress progress;
  std::map<std::string, OrderedJson> details;
};

class RunTrackerTest : public JobsFixture {
 protected:
  RunTrackerTest() {
    runners_.add(std::string(jobs::kAutomationRun),
                 {[](const jobs::Job&, const Json&, jobs::RunControl&) { return jobs::RunResult{}; }});
  }
  // Claims a leader with so many other jobs.
  void claim(int others) {
    for (int i = 0; i <= others; ++i) {
      jobs::Job job;
      job.action = jobs::kAutomationRun, job.name = "site.yml", job.batch_id = "b",
      job.request = Json::object();
      ids_.push_back(must(jobs::enqueue(deps_, root_, job, Json::object(), [&](auto& tx, const auto& made) {
                       return jobs::set_run_group(tx, made.id, "g");
                     })).id);
    }
    leader_ = *must(jobs::Worker(deps_, executors_, "w").claim());
    group_ = must(jobs::GroupRun::open(deps_, leader_));
  }
  std::unique_ptr<RunTracker> track(std::vector<TrackedHost> hosts) {
    return std::make_unique<RunTracker>(std::move(hosts), control_, *group_, mask_);
  }
  static RunEvent outcome(std::string host, Outcome what, std::string error = "") {
    return {RunEvent::Kind::outcome, std::move(host), {}, what, std::move(error)};
  }
  static RunEvent done(std::string host) {
    return {RunEvent::Kind::done, std::move(host), {}, Outcome::none, ""};
  }
  static RunEvent lines(std::optional<std::string> host, std::vector<std::string> text) {
    return {RunEvent::Kind::lines, std::move(host), std::move(text), Outcome::none, ""};
  }
  static RunEnd exited(int status) { return {.exit_status = status}; }
  std::string log_of(const std::string& id) {
    std::string out;
    for (const auto& line : must(jobs_.logs(root_, id, 0))) out += line.line + "|";
    return out;
  }

  jobs::Executors executors_{scratch_.path(), ""};
  std::vector<std::string> ids_;
  jobs::Job leader_;
  std::unique_ptr<jobs::GroupRun> group_;
  FakeControl control_;
  jobs::SecretMask mask_{{"hunter22"}};
};

TEST_F(RunTrackerTest, CountsHostsThatAreDone) {
  claim(0);
  auto tracker = track({{"a"}, {"b"}});
  EXPECT_EQ(control_.progress.items_total, 2u);
  tracker->on_event(outcome("a", Outcome::ok));
  EXPECT_EQ(control_.progress.items_done, 0u);
  tracker->on_event(done("a"));
  tracker->on_event(done("a"));
  tracker->on_event(done("nobody"));
  EXPECT_EQ(control_.progress.items_done, 1u);
  tracker->on_event(outcome("b", Outcome::changed));
  tracker->on_event(done("b"));
  EXPECT_EQ(tracker->finish(exited(0)).status, jobs::RunStatus::done);
  EXPECT_EQ(dump_json(control_.details["hosts"]),
            R"([{"name":"a","outcome":"ok","error":null},{"name":"b","outcome":"changed","error":null}])");
}

TEST_F(RunTrackerTest, OneBadHostFailsTheJobAndIsNamed) {
  claim(0);
  auto tracker = track({{"a"}, {"b"}});
  tracker->on_event(outcome("a", Outcome::ok));
  tracker->on_event(outcome("b", Outcome::unreachable, "no route\nhunter22"));
  EXPECT_EQ(tracker->bad_hosts(), 1u);
  auto result = tracker->finish(exited(4));
  EXPECT_EQ(result.status, jobs::RunStatus::failed);
  EXPECT_EQ(result.error, "b: unreachable: no route");
  EXPECT_EQ(result.exit_status, 4);
  EXPECT_EQ(control_.details["hosts"][1]["error"], "no route\n********");
}

TEST_F(RunTrackerTest, AHostThatNoPlayNamesIsSkipped) {
  claim(0);
  auto tracker = track({{"a"}});
  EXPECT_EQ(tracker->finish(exited(0)).status, jobs::RunStatus::done);
  EXPECT_EQ(control_.details["hosts"][0]["outcome"], "skipped");
}

TEST_F(RunTrackerTest, AtTheDeadlineOpenHostsHaveFailed) {
  claim(0);
  auto tracker = track({{"a"}, {"b"}, {"c"}});
  tracker->on_event(outcome("a", Outcome::ok));
  tracker->on_event(done("a"));
  tracker->on_event(outcome("b", Outcome::ok));
  auto result = tracker->finish({.how = RunEnd::How::timed_out, .signal = 15});
  EXPECT_EQ(result.status, jobs::RunStatus::failed);
  EXPECT_EQ(result.reason, "timeout");
  auto hosts = control_.details["hosts"];
  EXPECT_EQ(hosts[0]["outcome"], "ok");
  EXPECT_EQ(hosts[1]["outcome"], "failed");
  EXPECT_EQ(hosts[2]["outcome"], "skipped");
}

TEST_F(RunTrackerTest, InABatchEachJobHasItsOwnHostAndLog) {
  claim(2);
  auto tracker = track({{"a", 0}, {"b", 1}, {"c", 2}});
  tracker->on_event(lines(std::nullopt, {"TASK [one]"}));
  tracker->on_event(lines("b", {"ok: [b]", "hunter22"}));
  tracker->on_event(lines("b", {"more"}));
  for (auto name : {"a", "b"}) {
    tracker->on_event(outcome(name, Outcome::ok));
    tracker->on_event(done(name));
  }
  tracker->on_event(outcome("c", Outcome::failed, "no"));
  auto result = tracker->finish(exited(2));
  EXPECT_EQ(result.status, jobs::RunStatus::done) << result.error;
  EXPECT_EQ(state(ids_[1]), jobs::State::completed);
  EXPECT_EQ(state(ids_[2]), jobs::State::failed);
  EXPECT_EQ(job(ids_[2]).error, "c: failed: no");
  EXPECT_EQ(log_of(ids_[1]), "TASK [one]|ok: [b]|********|more|");
  EXPECT_EQ(control_.lines, (std::vector<std::string>{"TASK [one]"}));
  EXPECT_EQ(job(ids_[1]).details["hosts"][0]["name"], "b");
}

TEST_F(RunTrackerTest, ASecretThatWasCutLeavesNoPiece) {
  claim(0);
  auto tracker = track({{"a"}});
  std::string line(kMaxOutputLine - 6, 'x'), error(kMaxOutputError - 6, 'y');
  tracker->on_output(line + "hunter");
  tracker->on_event(outcome("a", Outcome::failed, error + "hunter"));
  EXPECT_EQ(control_.lines, std::vector{line});
  EXPECT_EQ(tracker->finish(exited(2)).error, "a: failed: " + error);
}

TEST_F(RunTrackerTest, TheProgramsLastErrorIsTheJobsWhereNoHostHasOne) {
  claim(0);
  auto tracker = track({{"a"}});
  auto result = tracker->finish({.exit_status = 4, .error = "[ERROR]: the playbook hunter22 is no YAML"});
  EXPECT_EQ(result.error, "[ERROR]: the playbook ******** is no YAML");
}

}  // namespace
}  // namespace dash::automation
