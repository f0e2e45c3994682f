#include <map>

#include "cmd/cli/interrupt.hpp"
#include "cmd/cli/printer.hpp"
#include "cmd/migrate/migrate.hpp"
#include "core/migrate/bundle/bundle_file.hpp"

namespace dash::cmd {

Run declare_shred(Flags& flags) {
  auto files = std::make_shared<std::vector<std::string>>();
  flags.arguments("FILE", *files, "bundles to overwrite and remove").required();
  return [files](Context& context) -> Result<void> {
    std::vector<std::string> done;
    std::map<std::string, std::string> failed;
    std::optional<Error> first;
    for (const auto& file : *files) {
      InterruptBlocker blocker;
      auto shredded = migrate::shred_file(file);
      if (shredded) {
        done.push_back(file);
        context.out.line("shredded {}", file);
        set_interrupt_message(fmt::format("shredded {}; the rest is still there", fmt::join(done, ", ")));
      } else {
        failed[file] = shredded.error().message;
        if (!first) first = std::move(shredded).error();
      }
    }
    context.out.document({{"shredded", done}, {"failed", failed}});
    if (!first || done.empty()) return first ? Result<void>(Failure(*first)) : Result<void>();
    std::vector<std::string> reasons;
    for (const auto& [file, reason] : failed) reasons.push_back(reason);
    return fail(Code::partial, "{}", fmt::join(reasons, "; "));
  };
}

}  // namespace dash::cmd
