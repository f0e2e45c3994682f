#include "cmd/cli/groups.hpp"

int main(int argc, char** argv) { return dash::cmd::run({argv + 1, argv + argc}); }
