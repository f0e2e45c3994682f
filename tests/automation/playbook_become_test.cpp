#include "core/automation/playbook_become.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::automation {
namespace {

std::string play(std::string_view keywords, std::string_view tasks = "[]") {
  return fmt::format("- hosts: web\n  {}\n  tasks: {}\n", keywords, tasks);
}

bool is_anywhere(const std::string& text) { return must(find_become(text)).is_anywhere; }
bool is_here(const std::string& text) { return must(find_become(text)).is_on_this_machine; }

TEST(FindBecome, InPlaysBlocksRolesAndTasks) {
  EXPECT_FALSE(is_anywhere(play("gather_facts: no")));
  for (const auto& text :
       {play("become: yes"), play("\"b\\x65come\": on"), play("{become: 1}: x\n  become: 'True'"),
        play("roles: [{role: r, become: true}]"), play("x: y", "[{block: [{ping: , become: y}]}]"),
        play("x: y", "[{ping: , become: '{{ perhaps }}'}]"), play("vars: {ansible_become: true}"),
        play("x: y", "[{set_fact: ansible_become=yes}]"), play("x: y", "[{set_fact: {ansible_become: yes}}]"),
        play("x: y", "[{include_tasks: {file: t.yml, apply: {become: true}}}]"), play("<<: {become: yes}"),
        play("<<: [{a: b}, {<<: {become: yes}}]"), std::string("- &p {hosts: web, become: yes}\n- *p\n"),
        play("x: &t true\n  become: *t"), play("x: &k become\n  *k : true")})
    EXPECT_TRUE(is_anywhere(text)) << text;
}

TEST(FindBecome, IsNoTextSearch) {
  for (const auto& text :
       {play("name: 'become: true'"), play("# become: true\n  x: y"), play("become: no"), play("become: "),
        play("x: y", "[{debug: {msg: become=yes}}]"), play("x: y", "[{copy: {content: \"become: true\"}}]"),
        play("become_user: root"), play("<<: {become: yes}\n  become: false")})
    EXPECT_FALSE(is_anywhere(text)) << text;
}

TEST(FindBecome, KnowsWhatRunsOnThisMachine) {
  for (const auto& text :
       {std::string("- {hosts: localhost, become: yes}"),
        std::string("- {hosts: [web, 127.0.0.1], become: yes}"),
        std::string("- {hosts: 'web:localhost', become: yes}"), std::string("- {hosts: '::1', become: yes}"),
        play("connection: local\n  become: yes"), play("connection: ansible.builtin.local\n  become: yes"),
        play("become: yes", "[{ping: , delegate_to: localhost}]"),
        play("become: yes", "[{block: [{ping: }], delegate_to: localhost}]"),
        play("become: yes", "[{local_action: ping}]"),
        play("become: yes\n  vars: {ansible_connection: local}"),
        play("become: yes", "[{add_host: name=x ansible_connection=local}]"),
        play("vars: {ansible_become: yes}", "[{ping: , delegate_to: localhost, become: no}]")})
    EXPECT_TRUE(is_here(text)) << text;
  for (const auto& text :
       {play("become: yes"), play("become: yes", "[{ping: , delegate_to: localhost, become: no}]"),
        play("become: yes", "[{ping: , delegate_to: db1}]"),
        play("x: y", "[{ping: , delegate_to: localhost}]"),
        std::string("- {hosts: localhost}\n- {hosts: web, become: yes}\n"),
        std::string("- {hosts: localhost, tasks: [{ping: , become: yes, delegate_to: db1}]}")})
    EXPECT_FALSE(is_here(text)) << text;
}

TEST(FindBecome, CountsVariablesOfTheRequest) {
  auto use = must(find_become(play("x: y", "[{ping: , delegate_to: localhost}]"), true));
  EXPECT_TRUE(use.is_anywhere);
  EXPECT_TRUE(use.is_on_this_machine);
}

TEST(FindBecome, NamesWhatNobodyHasJudged) {
  for (const auto& text : {play("roles: [r]"), play("x: y", "[{ansible.builtin.include_tasks: t.yml}]"),
                           std::string("- import_playbook: other.yml"), play("vars_files: [v.yml]")})
    EXPECT_TRUE(must(find_become(text)).reads_other_files) << text;
  EXPECT_FALSE(must(find_become(play("name: roles"))).reads_other_files);
}

TEST(FindBecome, EndsOnPlaybooksThatNameThemselves) {
  EXPECT_FALSE(is_anywhere("- &p {hosts: web, x: *p}"));
  std::string many = "- a0: &a0 [x]\n";
  for (int i = 1; i < 3000; ++i) many += fmt::format("  a{0}: &a{0} [*a{1}, *a{1}]\n", i, i - 1);
  EXPECT_FALSE(is_anywhere(many));
}

}  // namespace
}  // namespace dash::automation
