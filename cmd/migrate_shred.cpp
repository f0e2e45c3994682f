#include "cmd/migrate.hpp"
#include "cmd/output.hpp"
#include "core/migrate/bundle_file.hpp"

namespace dash::cmd {

Run declare_shred(Flags& flags) {
  auto files = std::make_shared<std::vector<std::string>>();
  flags.arguments("FILE", *files, "bundles to overwrite and remove").required();
  return [files](Context& context) -> Result<void> {
    for (const auto& file : *files) {
      TRY(migrate::shred_file(file));
      context.out.line("shredded {}", file);
    }
    context.out.document({{"shredded", *files}});
    return {};
  };
}

}  // namespace dash::cmd
