#include "core/automation/playbook_check.hpp"

namespace dash::automation {

Result<bool> check_playbook(storage::Assets& assets, const Principal& principal,
                            const storage::FindResult& found, const PlaybookCheck& check) {
  const auto& name = found.asset.name;
  std::string text(kMaxJudgedPlaybook + 1, '\0');
  auto opened = TRY(assets.open(principal, found.asset.backend, name, text));
  if (opened.first.object.etag != found.object.etag)
    return fail(Code::conflict, "'{}' was changed while its run was requested; request it again", name);
  text.resize(opened.second);
  return judge_playbook(name, text, check);
}

}  // namespace dash::automation
