// The ten gated actions in both spellings (spec: Endpoints; DESIGN §2).
#include <algorithm>
#include <array>

#include "core/policy/settings.hpp"

namespace dash::policy {
namespace {

struct Spelling {
  std::string_view canonical, provider;
};

constexpr std::array<Spelling, 10> kActions{{
    {"cloud1:vm:deploy", "aws:ec2:deploy"},
    {"cloud2:vm:deploy", "azure:vm:deploy"},
    {"cloud3:vm:deploy", "gcp:gce:deploy"},
    {"cloud4:compute:deploy", "oci:compute:deploy"},
    {"clouddb:provision", "clouddb:provision"},
    {"k8s:provision", "k8s:provision"},
    {"cloud1:vm:destroy", "aws:ec2:destroy"},
    {"cloud2:vm:destroy", "azure:vm:destroy"},
    {"cloud3:vm:destroy", "gcp:gce:destroy"},
    {"cloud4:compute:destroy", "oci:compute:destroy"},
}};

}  // namespace

const std::vector<std::string>& gated_action_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const auto& a : kActions) out.emplace_back(a.canonical);
    return out;
  }();
  return names;
}

std::string canonical_action(std::string_view word) {
  auto first = word.find_first_not_of(" \t\r\n");
  if (first == word.npos) return "";
  word = word.substr(first, word.find_last_not_of(" \t\r\n") - first + 1);
  auto it = std::ranges::find(kActions, word, &Spelling::provider);
  return std::string(it == kActions.end() ? word : it->canonical);
}

std::string provider_action(std::string_view canonical) {
  auto it = std::ranges::find(kActions, canonical, &Spelling::canonical);
  return std::string(it == kActions.end() ? canonical : it->provider);
}

}  // namespace dash::policy
