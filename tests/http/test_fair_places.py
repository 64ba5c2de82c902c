"""Places by principal: who may begin, who waits, and whose turn it is."""

from types import SimpleNamespace

from mcpc_runtime.http.fair_turns import FairAdmission
from mcpc_runtime.server.running_calls import MAX_RUNNING, MAX_WAITING


class Call:
    """As much of a work as its place depends on."""

    def __init__(self, principal, parent=None):
        self.parent = parent
        self.call = SimpleNamespace(request=SimpleNamespace(session=SimpleNamespace(principal=principal)))


def begin(places, principal):
    """Begin a call, or have it wait, as the dispatcher does."""
    work = Call(principal)
    if places.admits(work):
        places.enter(work)
    elif not places.refusal(principal):
        places.wait(work)
    else:
        return None
    return work


def test_one_principal_leaves_a_quarter_and_another_begins_at_once():
    places = FairAdmission(MAX_RUNNING)
    for _ in range(MAX_RUNNING):
        begin(places, "a")
    assert (places.running, len(places)) == (MAX_RUNNING * 3 // 4, MAX_RUNNING // 4)
    assert places.admits(Call("b")) and not places.is_roomy


def test_calls_that_wait_are_begun_in_turn():
    places = FairAdmission(MAX_RUNNING)
    running = [begin(places, f"p{number}") for number in range(MAX_RUNNING)]
    for name in ("a", "a", "a", "b", "c"):
        begin(places, name)
    turns = []
    for work in running[:5]:
        assert places.next() is None
        assert places.leave(work)
        found = places.next()
        places.enter(found)
        turns.append(found.call.request.session.principal)
    assert turns[:3] == ["a", "b", "c"] and len(places) == 5 - len(turns) == 0


def test_who_has_its_share_of_those_that_wait_is_refused_and_another_waits():
    places = FairAdmission(MAX_RUNNING)
    for number in range(MAX_RUNNING):
        begin(places, f"p{number}")
    while begin(places, "a"):
        pass
    assert len(places) == MAX_WAITING * 3 // 4
    assert "of yours" in places.refusal("a") and not places.refusal("b")


def test_a_call_of_another_call_shares_its_place_and_never_waits_for_one():
    places = FairAdmission(MAX_RUNNING)
    works = [begin(places, "a") for _ in range(MAX_RUNNING)]
    child = Call("a", parent=works[0])
    places.enter(child)
    assert places.running == MAX_RUNNING * 3 // 4
    places.put_back(child)
    assert places.next() is child
    places.enter(child)
    assert places.leave(child) and places.running == MAX_RUNNING * 3 // 4


def test_one_that_is_cancelled_while_it_waits_gives_up_its_turn_and_no_place():
    places = FairAdmission(MAX_RUNNING)
    works = [begin(places, "a") for _ in range(MAX_RUNNING)]
    assert not places.leave(works[-1])
    assert (places.running, len(places)) == (MAX_RUNNING * 3 // 4, MAX_RUNNING // 4 - 1)


def test_the_one_place_of_a_serial_server_is_given_in_turn():
    places = FairAdmission(1)
    first, second, third = begin(places, "a"), begin(places, "b"), begin(places, "a")
    assert (places.running, len(places), places.is_roomy) == (1, 2, False)
    for ended, following in ((first, second), (second, third)):
        assert places.next() is None
        places.leave(ended)
        assert places.next() is following
        places.enter(following)
