#include <fstream>

#include "cmd/cli/groups.hpp"
#include "cmd/cli/instance.hpp"
#include "cmd/cli/printer.hpp"
#include "core/audit/verify.hpp"
#include "core/base/file.hpp"

namespace dash::cmd {
namespace {

struct AuditFlags {
  InstanceFlags instance;
  std::string file, checkpoint, public_key, out = "-";
  std::int64_t seq = 0, from = -1;
};

using TakeEntry = std::function<Result<void>(const std::optional<audit::LogEntry>&)>;

// Reads an exported file one entry at a time, so that a file of any size verifies in constant memory.
Result<void> each_line(const std::string& path, const TakeEntry& take) {
  std::ifstream in(path);
  if (!in) return fail(Code::not_found, "cannot read {}", path);
  std::int64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty()) continue;
    auto json = TRY(within(fmt::format("{} line {}", path, number), parse_json(line)));
    TRY(take(TRY(within(fmt::format("{} line {}", path, number), audit::entry_from_json(json)))));
  }
  return {};
}

// Reads the entries of an instance as an export of them.
Result<void> each_entry(Context& context, const AuditFlags& options, const TakeEntry& take) {
  auto instance = TRY(open_instance(context, options.instance, Login::any));
  return instance->audit->export_lines([&](std::string_view line) -> Result<void> {
    return take(TRY(audit::entry_from_json(TRY(parse_json(line)))));
  });
}

// Believes the key and the checkpoint that the caller holds, and nothing that the instance says of itself.
Result<OrderedJson> verify_by_key(Context& context, const AuditFlags& options) {
  auto key_text = options.public_key.find('+') == std::string::npos ? TRY(read_file(options.public_key, 4096))
                                                                    : options.public_key;
  auto key = TRY(audit::parse_verifier_key(key_text));
  auto anchor = TRY(client::read_anchor_file(options.checkpoint));
  auto read = [&](const TakeEntry& take) {
    return options.file.empty() ? each_entry(context, options, take) : each_line(options.file, take);
  };
  return audit::to_json(TRY(audit::verify_entries(read, {anchor}, key)));
}

Result<OrderedJson> verify_instance(Context& context, const AuditFlags& options) {
  auto instance = TRY(open_instance(context, options.instance, Login::any));
  return instance->audit->verify(options.checkpoint);
}

Result<OrderedJson> verify(Context& context, const AuditFlags& options) {
  bool has_checkpoint = !options.checkpoint.empty(), has_key = !options.public_key.empty();
  if (!options.file.empty() && !(has_checkpoint && has_key))
    return fail(Code::usage, "--file needs --checkpoint and --public-key");
  if (has_key && !has_checkpoint) return fail(Code::usage, "--public-key needs --checkpoint");
  if (has_checkpoint && !has_key && !options.instance.target.empty())
    return fail(Code::usage, "with --target, --checkpoint needs --public-key");
  return has_key ? verify_by_key(context, options) : verify_instance(context, options);
}

void print_verdict(Context& context, const OrderedJson& verdict) {
  auto& out = context.out;
  out.line("{} entries: {}", verdict.at("count").get<std::int64_t>(),
           verdict.at("ok").get<bool>() ? "ok" : "BROKEN");
  if (verdict.at("first_broken_seq").is_number())
    out.line("first broken entry: {}", verdict.at("first_broken_seq").get<std::int64_t>());
  if (verdict.contains("checkpoint") && verdict.at("checkpoint").is_object())
    out.line("newest checkpoint covers {} entries; {} lie beyond it",
             verdict.at("checkpoint").at("size").get<std::int64_t>(),
             verdict.at("checkpoint").at("beyond").get<std::int64_t>());
  if (verdict.contains("public_key"))
    out.line("checkpoints are signed by {}", printable(verdict.at("public_key").get<std::string>()));
  if (!verdict.contains("problems")) return;
  for (const auto& problem : verdict.at("problems")) out.line("- {}", printable(problem.get<std::string>()));
}

// A log without errors is not yet a log that every anchor confirms.
Result<void> check_verdict(Context& context, const OrderedJson& verdict) {
  if (!verdict.at("ok").get<bool>()) return fail(Code::integrity, "the audit log is not what was written");
  std::size_t silent = 0;
  for (const auto& anchor : verdict.value("anchors", OrderedJson::array())) {
    if (!anchor.at("error").is_string()) continue;
    ++silent;
    context.out.line("- {} could not be asked: {}", printable(anchor.value("name", "")),
                     printable(anchor.value("error", "")));
  }
  if (silent == 0) return {};
  return fail(Code::partial, "{} of the log's anchors could not be asked", silent);
}

Run declare_verify(Flags& flags) {
  auto options = std::make_shared<AuditFlags>();
  flags.text("--file", options->file, "FILE", "exported log to check instead of an instance");
  flags.text("--checkpoint", options->checkpoint, "FILE",
             "checkpoints stored elsewhere, such as an anchor's file");
  flags.text("--public-key", options->public_key, "KEY|FILE",
             "key that signs the checkpoints, instead of the instance's word");
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto verdict = TRY(verify(context, *options));
    print_verdict(context, verdict);
    context.out.document(verdict);
    return check_verdict(context, verdict);
  };
}

Run declare_export(Flags& flags) {
  auto options = std::make_shared<AuditFlags>();
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    return instance->audit->export_lines([&](std::string_view line) -> Result<void> {
      context.out.raw(line);
      return {};
    });
  };
}

Run declare_prove(Flags& flags) {
  auto options = std::make_shared<AuditFlags>();
  flags.number("--seq", options->seq, "N", "prove that entry N is in the log");
  flags.number("--from", options->from, "SIZE", "prove that the log of that size is a prefix of this one");
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    if (options->seq <= 0 && options->from < 0) return fail(Code::usage, "give --seq N or --from SIZE");
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    auto proof = TRY(options->from >= 0 ? instance->audit->prove_consistency(options->from)
                                        : instance->audit->prove_inclusion(options->seq));
    if (!context.out.is_json()) context.out.raw(dump_json(proof, 2) + "\n");
    context.out.document(proof);
    return {};
  };
}

}  // namespace

Group audit_group() {
  return {
      "audit",
      "The tamper-evident audit log",
      {{"verify",
        "Check that the log is unchanged",
        "Reads an instance, or with --file an exported log, which needs a checkpoint and the public key but "
        "no instance. With --public-key the entries are checked here, whatever the instance says. Exits "
        "with 9 when the log is broken.",
        declare_verify,
        {{"Check an instance's log", "dashctl audit verify"},
         {"Check an exported log",
          "dashctl audit verify --file audit.jsonl --checkpoint audit.checkpoint --public-key audit.key"}}},
       {"export",
        "Print the whole log, one JSON object a line",
        "",
        declare_export,
        {{"Export the log", "dashctl audit export > audit.jsonl"}}},
       {"prove",
        "Prove that an entry, or an earlier log, is part of the log",
        "Prints an inclusion or a consistency proof (RFC 6962) with a signed checkpoint and the public key. "
        "Checking it needs no access to the instance.",
        declare_prove,
        {{"Prove that the log holds entry 2", "dashctl audit prove --seq 2"},
         {"Prove that the first 2 entries are unchanged", "dashctl audit prove --from 2"}}}}};
}

}  // namespace dash::cmd
