// Prints a comparison of a bundle with a target.
#include "cmd/cli/printer.hpp"
#include "cmd/migrate/migrate.hpp"

namespace dash::cmd {
namespace {

// Prints the notes about the comparison.
void print_notes(Context& context, const migrate::SelectedConfig& selected, const migrate::Diff& diff) {
  auto& out = context.out;
  for (const auto& [key, reason] : selected.refused)
    out.note("refused: {} ({}) never travels", one_line(key), reason);
  for (const auto& key : selected.masked)
    out.note("masked: {} has no value in the bundle and is not sent", printable(key));
  for (const auto& key : diff.masked)
    out.note("masked: {} has no value in the bundle and is not sent", printable(key));
  for (const auto& cloud : diff.not_replaced)
    out.warn(
        "not replaced: {}: the bundle has nothing for it that the target can keep, so its region sets stay",
        cloud);
  for (const auto& key : diff.not_overwritten)
    out.note("kept: {} is empty in the bundle and not on the target (--allow-empty-values overwrites)",
             printable(key));
  for (const auto& key : diff.would_drop)
    out.note("would drop: {} has no place on the target and is not sent", printable(key));
  for (const auto& key : diff.would_lose) out.note("would lose: {} is not in the bundle", printable(key));
  if (selected.webhooks_left_out > 0)
    out.note("{} notification endpoints are not selected (--only {})", selected.webhooks_left_out,
             migrate::kWebhooksName);
  for (const auto& warning : diff.warnings) out.warn("{}", printable(warning));
}

}  // namespace

void print_diff(Context& context, const migrate::SelectedConfig& selected, const migrate::Diff& diff,
                bool show_same) {
  using migrate::Category;
  auto& out = context.out;
  Printer::Batch batch(out);
  for (auto category : {Category::add, Category::change, Category::unknown, Category::same}) {
    out.line("  {}", out.heading(fmt::format("{}: {}", migrate::word(category), diff.count(category))));
    if (category == Category::same && !show_same) continue;
    for (const auto& row : diff.rows)
      if (row.category == category)
        out.line("      {} = {} chars #{}", printable(row.key), row.chars, row.fingerprint);
  }
  if (!diff.would_vanish.empty()) out.line("  {}", out.heading("would vanish:"));
  for (const auto& region : diff.would_vanish) out.line("      {}", printable(region));
  print_notes(context, selected, diff);
}

}  // namespace dash::cmd
