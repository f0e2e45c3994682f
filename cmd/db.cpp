#include "cmd/cli/db_group.hpp"

#include "cmd/cli/instance.hpp"
#include "cmd/cli/printer.hpp"
#include "core/app/database.hpp"

namespace dash::cmd {
namespace {

struct DbFlags {
  LocalFlags local;
  std::string file;
  bool keep_tokens = false;
};

Run declare_backup(Flags& flags) {
  auto options = std::make_shared<DbFlags>();
  flags.argument("FILE", options->file, "file to write, mode 0600; replaced when the new backup is whole")
      .required();
  declare_local(flags, options->local);
  return [options](Context& context) -> Result<void> {
    auto result = TRY(app::back_up(local_options(options->local), options->file, SystemClock()));
    context.out.line("{}: {} rows, schema {}, {} audit entries", printable(result.file), result.rows,
                     result.schema, result.audit_entries);
    context.out.note("it opens with the instance's keys only, and holds none: keep those apart");
    context.out.document(app::to_json(result));
    return {};
  };
}

Run declare_restore(Flags& flags) {
  auto options = std::make_shared<DbFlags>();
  flags.argument("FILE", options->file, "a backup that `dashctl db backup` wrote").required();
  flags.toggle("--keep-tokens", options->keep_tokens, "leave access tokens valid instead of revoking all");
  declare_local(flags, options->local);
  return [options](Context& context) -> Result<void> {
    auto result =
        TRY(app::restore(local_options(options->local), options->file, options->keep_tokens, SystemClock()));
    context.out.line("restored {} rows of {}; {} tokens revoked", result.rows, result.made_at,
                     result.tokens_revoked);
    for (const auto& note : result.notes) context.out.line("- {}", note);
    context.out.document(app::to_json(result));
    return {};
  };
}

Run declare_check(Flags& flags) {
  auto options = std::make_shared<DbFlags>();
  declare_local(flags, options->local);
  return [options](Context& context) -> Result<void> {
    auto report = TRY(app::check_database(local_options(options->local), SystemClock()));
    std::int64_t rows = 0;
    for (const auto& [name, count] : report.tables) rows += count;
    context.out.line("{}, schema {}: {} tables, {} rows, {} audit entries", report.engine, report.schema,
                     report.tables.size(), rows, report.audit_entries);
    for (const auto& problem : report.problems) context.out.line("- {}", printable(problem));
    context.out.document(app::to_json(report));
    if (report.problems.empty()) return {};
    return fail(Code::integrity, "the database is not whole: {} problems; restore it from a backup",
                report.problems.size());
  };
}

Run declare_copy(Flags& flags) {
  auto request = std::make_shared<app::CopyDatabaseRequest>();
  flags.argument("FROM", request->from, "the data folder or the postgres://… that has the rows").required();
  flags.argument("TO", request->to, "the data folder or the postgres://… that gets them").required();
  flags
      .text("--signing-key-file", request->signing_key_file, "FILE",
            "the signing key, when in neither folder")
      .in(FlagGroup::instance);
  flags
      .text("--encryption-key-file", request->encryption_key_file, "FILE",
            "the encryption key, when there is one")
      .in(FlagGroup::instance);
  return [request](Context& context) -> Result<void> {
    auto result = TRY(app::copy_database(*request, SystemClock()));
    for (const auto& [name, rows] : result.tables) context.out.line("{:<24} {}", name, rows);
    context.out.line("all rows are the same, and so is the audit log of {} entries", result.audit_entries);
    for (const auto& note : result.notes) context.out.line("- {}", printable(note));
    context.out.document(app::to_json(result));
    return {};
  };
}

}  // namespace

Group db_group() {
  return {
      "db",
      "Back up, restore, check and move the database",
      {{"backup",
        "Write a backup of the database",
        "It shows the instance as it is at one moment, also while a server runs. The file is sealed by the "
        "instance's keys and holds none of them, nor policy rules, deploy modules and assets.",
        declare_backup,
        {{"Back up an instance in use", "dashctl db backup dash.backup"},
         {"Back up one whose database is PostgreSQL",
          "dashctl db backup dash.backup --database postgres://dash@db.example/dash"}}},
       {"restore",
        "Put a backup into an empty instance",
        "The instance has no account yet, its keys are those of the backup, and no server runs on it; else "
        "nothing is written and the exit code is 12. Sessions end, and tokens are revoked.",
        declare_restore,
        {{"Restore into a new folder that has the key", "dashctl db restore dash.backup --data-dir new"},
         {"Keep access tokens valid", "dashctl db restore dash.backup --data-dir new --keep-tokens"}}},
       {"check",
        "Check that the database is whole",
        "Reads every row: structure, references, settings, audit log. Exits with 9 when something is wrong.",
        declare_check,
        {{"Check an instance's database", "dashctl db check"},
         {"Check it for a program", "dashctl db check --output json"}}},
       {"copy",
        "Copy a database from one engine to the other",
        "Copies every row and compares all of them, and the audit chain, before anything counts. Refused "
        "while a server runs on either, and when the target has accounts. Keys are not copied.",
        declare_copy,
        {{"Move to PostgreSQL", "dashctl db copy /srv/dash postgres://dash@db.example/dash"},
         {"Move back into a folder",
          "dashctl db copy postgres://dash@db.example/dash back --signing-key-file "
          "/srv/dash/signing.key"}}}}};
}

}  // namespace dash::cmd
