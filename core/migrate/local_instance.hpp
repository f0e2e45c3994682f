// The instance in a data directory, as the operator at the shell: values are read in clear, so nothing is
// ever unknown.
#pragma once
#include "core/migrate/instance.hpp"
#include "core/setup/vaults.hpp"

namespace dash::migrate {

// The seams of an open instance (app::Services) that a migration needs.
struct LocalParts {
  config::Store& config;
  setup::Setup& setup;
  setup::Endpoints& endpoints;
  setup::Vaults& vaults;
  identity::SetupCode& setup_code;
};

class LocalInstance final : public Instance {
 public:
  LocalInstance(std::string folder, LocalParts parts)
      : folder_(std::move(folder)), parts_(parts), who_(local_operator()) {}

  std::string name() const override { return folder_; }
  Result<bool> is_set_up() override;
  // Code::integrity naming the keys that this instance's key cannot open.
  Result<Told> read() override;
  Result<std::optional<std::map<std::string, setup::Comparison>>> compare(
      const config::Values& mine) override;
  Result<Written> write(const WriteOrder& order) override;
  Result<std::vector<setup::Endpoint>> endpoints() override;
  Result<void> put_endpoint(const std::optional<std::string>& id, const setup::FullEndpoint& row) override;
  Result<std::optional<std::set<std::string>>> vaults() override;
  Result<setup::RollbackReport> rollback(const std::string& change_id,
                                         const setup::StateOptions& state) override;

  // With URL and secret, for export.
  Result<std::vector<setup::FullEndpoint>> full_endpoints() { return parts_.endpoints.export_all(who_); }

 private:
  std::string folder_;
  LocalParts parts_;
  Principal who_;
};

}  // namespace dash::migrate
