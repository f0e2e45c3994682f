"""The uses of a store by commands on the data folder, as support/fault_world.py spoils them."""
from support.fault_flows import OLD, SMALL
from support.fault_world import Flow, Said


class Command(Flow):
    """A command on the data folder; its exit status says what its answer would."""
    EXITS = {1, 5, 7, 8, 9, 12}  # README, Exit status

    def said(self, *words):
        done = self.world.one.dashctl("storage", *words)
        assert done.code == 0 or (done.code in self.EXITS and done.err.strip()), done
        return Said(done.code == 0, {"detail": done.err, "exit": done.code, "out": done.out})


class UploadCommand(Command):
    new = SMALL

    def act(self):
        file = self.world.scratch / self.name
        file.write_bytes(SMALL)
        return self.said("upload", file)


class FetchCommand(Command):
    before = new = OLD

    def act(self):
        file = self.world.scratch / ("fetched-" + self.name)
        file.unlink(missing_ok=True)
        said = self.said("fetch", self.name, "-o", file)
        assert file.read_bytes() == OLD if said.status < 300 else not file.exists(), said
        return said


class ListCommand(Command):
    before = new = OLD

    def act(self):
        said = self.said("list")
        assert said.status >= 300 or self.name in said.json["out"], said
        return said


class DeleteCommand(Command):
    before = OLD

    def act(self):
        return self.said("delete", self.name)

    def try_again(self):
        there = self.world.content(self.name) is not None
        assert self.succeeded(self.act()) == there and self.world.content(self.name) is None


COMMAND_FLOWS = [UploadCommand, FetchCommand, ListCommand, DeleteCommand]
