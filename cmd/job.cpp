#include "cmd/cli/groups.hpp"
#include "cmd/cli/instance.hpp"
#include "cmd/cli/printer.hpp"

namespace dash::cmd {
namespace {

struct JobFlags {
  InstanceFlags instance;
  std::string id, digest, workgroup, batch, what, reason, run_at, timezone, window;
  bool is_followed = false;
  std::vector<std::string> states;
  std::int64_t page = 1, page_size = 20;
};

std::string text_of(const OrderedJson& value) {
  return value.is_string() ? printable(value.get<std::string>()) : "-";
}

std::int64_t number_of(const OrderedJson& object, const char* member) {
  auto it = object.find(member);
  return it != object.end() && it->is_number_integer() ? it->get<std::int64_t>() : 0;
}

void print_job(Context& context, const OrderedJson& job) {
  auto& out = context.out;
  out.line("{} {} {}", text_of(job.at("id")), text_of(job.at("job_type")), text_of(job.at("status")));
  for (const auto* member :
       {"name", "region", "workgroup", "created_by", "created_at", "scheduled_for", "window_ends_at",
        "progress_message", "error_message", "reason", "approval_digest"})
    if (job.contains(member) && job[member].is_string() && !job[member].get_ref<const std::string&>().empty())
      out.line("  {}: {}", member, text_of(job[member]));
  if (auto plan = job.find("plan"); plan != job.end() && plan->is_object())
    out.line("  plan: {} to add, {} to change, {} to destroy", number_of(*plan, "add"),
             number_of(*plan, "change"), number_of(*plan, "destroy"));
  for (const auto& reason : job.at("approval_reasons")) out.line("  needs approval: {}", text_of(reason));
}

Result<jobs::JobQuery> read_query(const JobFlags& options) {
  jobs::JobQuery out;
  for (const auto& word : options.states) {
    auto state = jobs::parse_state(word);
    if (!state) return fail(Code::usage, "'{}' is not a status of a job", word);
    out.states.push_back(*state);
  }
  if (!options.workgroup.empty()) out.workgroup = options.workgroup;
  if (!options.batch.empty()) out.batch_id = options.batch;
  out.page = options.page, out.page_size = options.page_size;
  return out;
}

Run declare_list(Flags& flags) {
  auto options = std::make_shared<JobFlags>();
  flags.list("--status", options->states, "STATUS",
             "only jobs in this state: awaiting_approval, scheduled, pending, running, …");
  flags.text("--workgroup", options->workgroup, "NAME", "only jobs of this workgroup");
  flags.text("--batch", options->batch, "ID", "only jobs of this batch");
  flags.number("--page", options->page, "N", "number of the page, from 1");
  flags.number("--page-size", options->page_size, "N", "jobs on a page, up to 100");
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto query = TRY(read_query(*options));
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    auto page = TRY(instance->jobs->list(query));
    for (const auto& job : page.at("jobs"))
      context.out.line("{} {:<18} {:<24} {:<16} {}", text_of(job.at("id")), text_of(job.at("status")),
                       text_of(job.at("job_type")), text_of(job.at("created_by")), text_of(job.at("name")));
    context.out.document(page);
    return {};
  };
}

using JobAction = std::function<Result<OrderedJson>(client::JobClient&, const JobFlags&)>;

Run on_job(Flags& flags, const std::shared_ptr<JobFlags>& options, JobAction action,
           std::function<void(Context&, const OrderedJson&)> print) {
  declare_instance(flags, options->instance);
  return [options, action = std::move(action), print = std::move(print)](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    auto answer = TRY(action(*instance->jobs, *options));
    print(context, answer);
    context.out.document(answer);
    return {};
  };
}

std::shared_ptr<JobFlags> job_flags(Flags& flags) {
  auto options = std::make_shared<JobFlags>();
  flags.argument("JOB", options->id, "id of the job").required();
  return options;
}

void print_state(Context& context, const OrderedJson& answer) {
  context.out.line("{} is {}", text_of(answer.at("job_id")), text_of(answer.at("status")));
}

Run declare_show(Flags& flags) {
  return on_job(
      flags, job_flags(flags), [](auto& jobs, const auto& options) { return jobs.show(options.id); },
      print_job);
}

// Reads all pages.
Result<void> read_pages(client::JobClient& jobs, const std::string& id, client::LogReader& reader) {
  for (std::int64_t after = 0;;) {
    auto page = TRY(jobs.logs(id, after));
    if (page.at("logs").empty()) return {};
    for (const auto& line : page.at("logs")) {
      auto n = line.at("n").get<std::int64_t>();
      if (n > after + 1) reader.on_gap(after + 1, n - 1);
      reader.on_line(line);
      after = n;
    }
  }
}

class LogPrinter final : public client::LogReader {
 public:
  explicit LogPrinter(Context& context) : context_(context) {}
  void on_line(const OrderedJson& line) override {
    context_.out.line("{}", text_of(line.at("line")));
    if (context_.out.is_json()) lines_.push_back(line);
  }
  void on_gap(std::int64_t from, std::int64_t to) override {
    context_.out.note("lines {} to {} are not kept", from, to);
  }
  void on_interruption(const Error& why) override {
    context_.out.note("{}; connecting again", printable(why.message));
  }
  OrderedJson take() { return std::move(lines_); }

 private:
  Context& context_;
  OrderedJson lines_ = OrderedJson::array();
};

// Prints until the job has ended. A job that did not complete is the error of the command.
Result<void> follow_log(Context& context, client::JobClient& jobs, const std::string& id) {
  LogPrinter printer(context);
  auto status = TRY(jobs.follow(id, printer));
  context.out.document({{"logs", printer.take()}, {"status", status}});
  if (status != jobs::word(jobs::State::completed))
    return fail(Code::upstream, "job {} is {}; see `dashctl job show {}`", id, status, id);
  context.out.note("job {} is {}", id, status);
  return {};
}

Run declare_logs(Flags& flags) {
  auto options = job_flags(flags);
  flags.toggle("--follow", options->is_followed, "print until the job has ended").brief("-f");
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    if (options->is_followed) return follow_log(context, *instance->jobs, options->id);
    LogPrinter printer(context);
    TRY(read_pages(*instance->jobs, options->id, printer));
    context.out.document({{"logs", printer.take()}});
    return {};
  };
}

void declare_digest(Flags& flags, JobFlags& into) {
  flags
      .text("--digest", into.digest, "DIGEST",
            "the approval_digest that you read; fail when the job has another")
      .guard();
}

std::optional<std::string> digest_of(const JobFlags& options) {
  return options.digest.empty() ? std::nullopt : std::optional(options.digest);
}

Run declare_approve(Flags& flags) {
  auto options = job_flags(flags);
  declare_digest(flags, *options);
  flags
      .text("--only", options->what, "WHAT",
            "what to approve; policy and booking by default, a plan by name only, with its --digest")
      .one_of({"policy", "booking", "plan"});
  return on_job(
      flags, options,
      [](auto& jobs, const auto& f) {
        auto what = f.what == "policy"    ? jobs::ApprovalKind::policy
                    : f.what == "booking" ? jobs::ApprovalKind::booking
                    : f.what == "plan"    ? jobs::ApprovalKind::plan
                                          : jobs::ApprovalKind::all;
        return jobs.approve(f.id, what, digest_of(f));
      },
      print_state);
}

Run declare_reject(Flags& flags) {
  auto options = job_flags(flags);
  declare_digest(flags, *options);
  flags.text("--reason", options->reason, "TEXT", "reason, for the requester and the audit log");
  return on_job(
      flags, options, [](auto& jobs, const auto& f) { return jobs.reject(f.id, f.reason, digest_of(f)); },
      print_job);
}

Run declare_reschedule(Flags& flags) {
  auto options = job_flags(flags);
  flags.text("--run-at", options->run_at, "TIME", "new start, YYYY-MM-DDTHH:MM; now by default");
  flags.text("--timezone", options->timezone, "ZONE",
             "time zone of --run-at, such as Europe/London; UTC by default");
  flags.text("--window", options->window, "ID", "change window to book");
  return on_job(
      flags, options,
      [](auto& jobs, const auto& f) {
        Json body{{"run_at", f.run_at}, {"run_timezone", f.timezone}, {"change_window_id", f.window}};
        return jobs.reschedule(f.id, body);
      },
      print_state);
}

Run declare_cancel(Flags& flags) {
  return on_job(
      flags, job_flags(flags), [](auto& jobs, const auto& options) { return jobs.cancel(options.id); },
      print_state);
}

}  // namespace

Group job_group() {
  return {
      "job",
      "Jobs and their approvals",
      {{"list",
        "List jobs, newest first",
        "",
        declare_list,
        {{"List the jobs that wait for an approval", "dashctl job list --status awaiting_approval"}}},
       {"show", "Show one job", "", declare_show, {{"Show a job", "dashctl job show $JOB"}}},
       {"logs",
        "Print the output of a job",
        "The first and the last 10,000 lines are kept. With --follow the command exits with 0 when the job "
        "completed, and with 1 when it ended otherwise.",
        declare_logs,
        {{"Print the output until the job ends", "dashctl job logs $JOB --follow"}}},
       {"approve",
        "Approve somebody else's change",
        "Needs the permission change_windows:use. The plan of a deploy that waits is approved by --only plan "
        "together with --digest, and in no other way.",
        declare_approve,
        {{"Approve the change that you have read", "dashctl job approve $JOB --digest $DIGEST"}}},
       {"reject",
        "Reject somebody else's change",
        "Needs the permission change_windows:use.",
        declare_reject,
        {{"Reject a change", "dashctl job reject $JOB --reason 'wait for the release'"}}},
       {"reschedule",
        "Move a job that has not started, or was missed, to another time",
        "Change windows and rules are checked again.",
        declare_reschedule,
        {{"Start a job tomorrow", "dashctl job reschedule $JOB --run-at \"$(date -u -d tomorrow +%FT%R)\""}}},
       {"cancel",
        "Cancel a job",
        "A running job gets a signal to stop.",
        declare_cancel,
        {{"Cancel a job", "dashctl job cancel $JOB"}}}}};
}

}  // namespace dash::cmd
