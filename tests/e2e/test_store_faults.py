"""Each call that a flow makes to its store fails once, in every way, and from there on: no flow lies about it, none leaves half
an object, none tells a secret, and each works again when the store does."""
import collections

import pytest

from support.failing_folder import FOLDER_FAULTS
from support.failing_share import SHARE_FAULTS
from support.failing_store import FAULTS
from support.fault_flows import ASSET_FLOWS, OF_CLOUDS_ALONE, Delete, Fetch, Listing, Replace, Upload
from support.fault_flows_command import COMMAND_FLOWS
from support.fault_flows_hub import DEPLOY_FLOWS, HUB_FLOWS
from support.fault_world import CLOUDS, Worlds

FLOWS = [*ASSET_FLOWS, *COMMAND_FLOWS, *HUB_FLOWS]
FOLDER_FLOWS = [flow for flow in [*ASSET_FLOWS, *COMMAND_FLOWS] if flow not in OF_CLOUDS_ALONE]
POINTS = {}  # that the long form went over, of each kind of store and flow
EXPECTED = len(CLOUDS) * (len(FLOWS) + len(DEPLOY_FLOWS)) + 2 * len(FOLDER_FLOWS)
LEAST_POINTS = 5000  # of the long form
WORLDS_OF_A_KIND = 5
AT_ONCE = 6  # flows; their points share the worlds


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    made = Worlds(lambda kind: tmp_path_factory.mktemp(kind), WORLDS_OF_A_KIND)
    yield made
    made.close()


def each_group(flows):
    return pytest.mark.parametrize("flows", [flows[at:at + AT_ONCE] for at in range(0, len(flows), AT_ONCE)],
                                   ids=lambda group: "-".join(flow.__name__ for flow in group))


@each_group(FLOWS)
def test_a_call_that_fails_is_no_lie(worlds, flows):
    worlds.sweep(["s3"], flows, ["403", "lost answer"], [False])


def test_a_folder_that_fails_once_is_no_lie(worlds):
    worlds.sweep(["folder"], [Upload, Replace, Fetch, Listing, Delete], ["EIO"], [False])


@pytest.mark.long
@each_group(FLOWS)
def test_a_call_that_fails_in_any_way_is_no_lie(worlds, flows):
    POINTS.update(worlds.sweep(CLOUDS, flows, FAULTS, [False, True]))


@pytest.mark.long
@each_group(DEPLOY_FLOWS)
def test_a_call_for_a_state_that_fails_loses_no_resource(worlds, flows):
    POINTS.update(worlds.sweep(CLOUDS, flows, ["500", "lost answer"], [False]))


@pytest.mark.long
@each_group(FOLDER_FLOWS)
def test_a_connection_to_a_share_that_breaks_is_no_lie(worlds, flows):
    POINTS.update(worlds.sweep(["smb"], flows, SHARE_FAULTS, [False, True]))


@pytest.mark.long
@each_group(FOLDER_FLOWS)
def test_a_folder_that_fails_is_no_lie(worlds, flows):
    POINTS.update(worlds.sweep(["folder"], flows, FOLDER_FAULTS, [False, True]))


@pytest.mark.long
def test_the_sweep_went_over_so_many_points(capsys):
    """After the sweeps above, in the same process."""
    of_kind, of_flow = collections.Counter(), collections.Counter()
    for (kind, flow), points in POINTS.items():
        of_kind[kind] += points
        of_flow[flow] += points
    with capsys.disabled():
        print(f"\n  fault sweep: {of_kind.total()} points, {dict(of_kind)}, {dict(of_flow)}")
    if len(POINTS) == EXPECTED:
        assert of_kind.total() >= LEAST_POINTS
