"""Fixtures of the attacks: instances on both databases and every store, and the figures that are printed."""
import pytest

from support.cloud_stores import STORES, store_settings
from support.databases import DATABASES, new_database
from support.figures import Figures
from support.storage import people


@pytest.fixture(params=DATABASES)
def database(request):
    return new_database(request.param)


@pytest.fixture(params=[(database, store) for database in DATABASES for store in STORES], ids="-".join)
def arena(request, make_instance, scratch):
    """A running instance for each pair of database and store: the admin root, ann of web, bob of data."""
    database, store = request.param
    return people(make_instance(start=False, env=new_database(database)), store_settings(store, scratch))


@pytest.fixture
def figures(capsys):
    """figures(TITLE): times calls and prints a line, whatever pytest captures."""
    return lambda title: Figures(title, capsys)
