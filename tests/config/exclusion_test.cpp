#include "core/config/exclusion.hpp"

#include <gtest/gtest.h>

#include "core/config/registry.hpp"

namespace dash::config {
namespace {

std::string reason(std::string_view key, std::string_view value = "") {
  auto r = exclusion_reason(key, value);
  return r ? std::string(word(*r)) : "";
}

TEST(Exclusion, InstanceIdentityStays) {
  for (auto key : {"setup_complete",
                   "public_base_url",
                   "trusted_proxy_hosts",
                   "notify_base_url",
                   "azure_oauth_redirect_uri",
                   "cloud2_oauth_redirect_uri",
                   "agent_base_url",
                   "webauthn_rp_id",
                   "webauthn_origin",
                   "webauthn_rp_name",
                   "api_host",
                   "api_port",
                   "ssl_certfile",
                   "ssl_keyfile",
                   "cors_origins",
                   "database_url",
                   "db_pool_size",
                   "db_max_overflow",
                   "rancher_dashboard_egress_cidr",
                   "portainer_dashboard_egress_cidr",
                   "jwt_secret_key",
                   "agent_envelope_signing_key"})
    EXPECT_EQ(reason(key), "instance_local") << key;
}

TEST(Exclusion, HandlesOnLiveResourcesStay) {
  for (auto key : {"rancher_server_url",
                   "rancher_internal_url",
                   "rancher_api_token",
                   "rancher_admin_password",
                   "rancher_admin_password_generated",
                   "rancher_ui_web_jump_id",
                   "rancher_ui_web_jump_tfstate",
                   "rancher_ui_vault_account_id",
                   "rancher_ui_jumpoint_egress_ip",
                   "portainer_url",
                   "portainer_pat",
                   "portainer_admin_password",
                   "portainer_admin_password_generated",
                   "portainer_ui_web_jump_id",
                   "portainer_ui_web_jump_tfstate",
                   "portainer_ui_vault_account_id",
                   "gcp_portainer_zone",
                   "entitle_agent_token_ref",
                   "entitle_agent_token_name",
                   "entitle_agent_token_tf_state",
                   "entitle_agent_cluster_id",
                   "entitle_rancher_integration_id",
                   "entitle_rancher_tfstate",
                   "resource_expiry_armed_at",
                   "resource_expiry_last_sweep",
                   "notify_last_scan_at",
                   "worker_runtime_status"})
    EXPECT_EQ(reason(key), "runtime_handle") << key;
}

TEST(Exclusion, FamiliesOfHandlesStay) {
  for (auto prefix : {"clouddb/", "k8s_kubeconfig_", "k8s_api_tunnel_jump_", "k8s_entra_group_",
                      "k8s_entra_fed_", "k8s_impersonator_", "entitle_agent_azure_client_id_",
                      "entitle_agent_azure_key_vault_name_", "entitle_k8s_integration_id_",
                      "entitle_k8s_tfstate_", "rancher_cluster_id_", "rancher_manifest_url_"}) {
    EXPECT_EQ(reason(std::string(prefix) + "b2c4"), "runtime_handle") << prefix;
    EXPECT_EQ(reason(prefix), "runtime_handle") << prefix;
  }
}

TEST(Exclusion, WhatTheApplicationWritesAndThePeerForgetsStays) {
  for (auto key : {"entitle/agent-token", "cloudfn/7/bearer", "cloudfn/7/invoke-key",
                   "cloudfn/7/entitle-tfstate", "k8s_api_tunnel_state_7", "resource_expiry_enforce_since",
                   "ps_k8s_token_7", "k8s_token_sync_7", "k8s_ps_token_mode_7", "k8s_ps_cluster_name_7",
                   "k8s_ps_resource_group_7", "gcp_rancher_zone", "portainer_ui_jumpoint_egress_ip",
                   "cloud_identity_last_sweep", "hypervisor_connections_seeded", "portainer_verify_ssl"})
    EXPECT_EQ(reason(key), "runtime_handle") << key;
}

TEST(Exclusion, HostPathsStay) {
  for (auto key : {"vm_cli_wrapper_path", "log_dir", "ssh_key_file", "ssh_host", "ova_search_path",
                   "iso_source_path", "packer_work_root", "vmx_output_path", "ovf_tool_path",
                   "storage_local_path", "clouddb_ps_azure_cert_path", "clouddb_ps_ssm_public_key_path",
                   "epml_rpm_path", "epml_deb_path", "pathfinder_script_path", "storage_obj_cloud1_ca_file"})
    EXPECT_EQ(reason(key), "local_path") << key;
}

TEST(Exclusion, OnPremisesTargetsWaitForTheOptIn) {
  for (auto key : {"vmware_enabled", "proxmox_host", "vsphere_password", "hyperv_verify_ssl", "nutanix_port",
                   "xcpng_host", "xcpng_brand_new", "storage_local_password", "storage_local_domain"})
    EXPECT_EQ(reason(key), "on_prem") << key;
}

TEST(Exclusion, AShareIsOnPremisesAndAFolderIsThisHosts) {
  EXPECT_EQ(reason("storage_local_path", R"(\\files\assets\iso)"), "on_prem");
  EXPECT_EQ(reason("storage_local_path", " //files/assets"), "on_prem");
  EXPECT_EQ(reason("storage_local_path", "/srv/assets"), "local_path");
}

TEST(Exclusion, NeitherCaseNorSpaceNorSpellingHelps) {
  EXPECT_EQ(reason("  JWT_Secret_Key\n"), "instance_local");
  EXPECT_EQ(reason("GCP_Portainer_Zone"), "runtime_handle");
  EXPECT_EQ(reason("cloud3_portainer_zone"), "runtime_handle");
  EXPECT_EQ(reason(" "), "instance_local");
}

TEST(Exclusion, NearMissesTravel) {
  for (auto key : {"rancher_bootstrap_password",
                   "rancher_verify_tls",
                   "rancher_ready_timeout_s",
                   "entitle_k8s_user_prefix",
                   "clouddb_ps_workgroup",
                   "clouddb_ps_platform_mysql",
                   "entra_rbac_group_id",
                   "entra_rbac_role",
                   "k8s_runner",
                   "k8s_runner_image",
                   "remote_agents_enabled",
                   "aws_enabled",
                   "cloud4_enabled",
                   "k8s_ps_token_mode",
                   "resource_expiry_enforce",
                   "resource_expiry_enabled",
                   "brand_new_setting",
                   "rancher_cluster_id",
                   "storage_agent_password",
                   "storage_active_backend"})
    EXPECT_EQ(reason(key), "") << key;
}

TEST(Exclusion, EveryReasonInTheRegistryIsKnown) {
  for (const auto& info : registered_keys()) {
    if (!info.exclusion.empty()) {
      EXPECT_EQ(reason(info.key), info.exclusion) << info.key;
    }
    if (info.exclusion.empty() && info.is_on_prem) {
      EXPECT_EQ(reason(info.key), "on_prem") << info.key;
    }
  }
}

}  // namespace
}  // namespace dash::config
