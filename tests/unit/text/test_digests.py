from taxonomist.text.digests import digests


def test_digests_know_texts_again():
    texts = [{"a": "x", "b": "y"}, {"a": "xy", "b": ""}, {"a": "", "b": "xy"}, {"c": "x", "d": "y"}]
    one, two, three, four = digests(texts).tolist()
    assert one == four
    assert len({one, two, three}) == 3
    assert digests([{"a": "\ud800"}]).shape == (1,)
    assert digests([]).shape == (0,)
    assert len(set(digests(["café", "cafe\u0301"]).tolist())) == 1
    # What has one text is known again whatever it comes in; what is missing is empty.
    assert len(set(digests(["x", {"a": "x"}, ("x",)]).tolist())) == 1
    assert len(set(digests(["", None, {"a": None}]).tolist())) == 1
