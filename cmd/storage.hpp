// What the storage commands share: the instance they talk to.
#pragma once
#include <memory>

#include "cmd/instance.hpp"
#include "core/storage/client/desk.hpp"

namespace dash::cmd {

struct OpenDesk {
  OpenInstance instance;  // outlives the desk
  std::unique_ptr<storage::Desk> desk;
};
Result<OpenDesk> open_desk(Context& context, const InstanceFlags& flags);

Run declare_storage_upload(Flags& flags);
Run declare_storage_fetch(Flags& flags);

}  // namespace dash::cmd
