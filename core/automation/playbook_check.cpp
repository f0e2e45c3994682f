#include "core/automation/playbook_check.hpp"

#include "core/automation/playbook_become.hpp"

namespace dash::automation {
namespace {

constexpr std::size_t kMaxJudgedPlaybook = 1u << 20;

Failure unjudged(const std::string& name, std::string_view why) {
  return fail(Code::invalid,
              "'{}' cannot run with connection local: {}, so whether it takes another user's rights on this "
              "machine (become) is not known",
              name, why);
}

}  // namespace

Result<bool> check_playbook(storage::Assets& assets, const Principal& principal,
                            const storage::FindResult& found, const PlaybookCheck& check) {
  const auto& name = found.asset.name;
  std::string text(kMaxJudgedPlaybook + 1, '\0');
  auto opened = TRY(assets.open(principal, found.asset.backend, name, text));
  if (opened.first.object.etag != found.object.etag)
    return fail(Code::conflict, "'{}' was changed while its run was requested; request it again", name);
  text.resize(opened.second);
  bool is_short = text.size() <= kMaxJudgedPlaybook;
  auto use = is_short ? find_become(text, check.becomes_always) : Result<BecomeUse>({.is_anywhere = true});
  if (check.has_local_host) {
    if (!is_short) return unjudged(name, fmt::format("it has more than {} bytes", kMaxJudgedPlaybook));
    if (!use) return unjudged(name, "it is no YAML, " + use.error().message);
    if (use->reads_other_files)
      return unjudged(name, "it reads plays, tasks, roles or variables of other files");
  }
  if (!use) return true;
  if (use->is_on_this_machine)
    return fail(
        Code::invalid,
        "'{}' takes another user's rights on the machine of this server (become in a play, block, role "
        "or task that runs here); leave become out there",
        name);
  return use->is_anywhere;
}

}  // namespace dash::automation
