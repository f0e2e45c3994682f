// The version that an agent reports, which is the level of the protocol that it speaks.
#pragma once
#include <string_view>

namespace dash::agent {

struct ProtocolVersion {
  int major_number = 0;
  int minor_number = 0;
};

inline constexpr ProtocolVersion kStorageVersion{2, 5};
inline constexpr ProtocolVersion kShareSecretVersion{2, 7};

// Compares the leading `major.minor` as numbers. A version that cannot be read is below every other.
bool is_version_at_least(std::string_view version, ProtocolVersion wanted);

}  // namespace dash::agent
