"""Whatever a file can hold comes out as it went in; whatever it cannot is refused with a reason."""

from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.svm import SVC

from taxonomist import HierarchicalSVC, NodeSVC, features, kernels, losses, models
from taxonomist.errors import ModelFileError, TaxonomistError
from taxonomist.features import SpectrumFeatures
from taxonomist.persistence import describe, encoding, load, save
from taxonomist.persistence.registry import _TABLE, Registry
from tests.unit.persistence.examples import TREE, problem, same

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(st.characters(codec=None))
    | st.floats(width=32).map(np.float32)
    | st.integers(0, 255).map(np.uint8)
    | st.booleans().map(np.bool_)
    | st.text(max_size=3).filter(lambda text: not text.endswith("\0")).map(np.str_)
    | st.sampled_from([float, int, np.float32, np.dtype("<i4"), slice(1, None, 2), range(3)])
)
KEYS = st.text(max_size=3) | st.integers() | st.tuples(st.booleans(), st.text(max_size=2))
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.dictionaries(st.just("$") | st.just("id"), inner).map(MappingProxyType)
        | st.frozensets(KEYS, max_size=3)
        | st.sets(KEYS, max_size=3)
    ),
    max_leaves=10,
)


def round_trip(value, folder):
    # Attributes need not be what a parameter may be: any known class can carry a value.
    model = HierarchicalSVC()
    model.value_ = value
    save(model, folder / "model")
    return load(folder / "model").value_


@given(value=VALUES)
def test_values(value, tmp_path_factory):
    assert not same(value, round_trip(value, tmp_path_factory.mktemp("values")))


@given(
    array=hnp.arrays(
        st.sampled_from(["f4", "f8", ">f8", "i1", "i8", "u2", "?", "U3", "c16", "M8[s]"]),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5),
    ),
    order=st.sampled_from("CF"),
    is_frozen=st.booleans(),
)
def test_arrays(array, order, is_frozen, tmp_path_factory):
    array = np.asarray(array, order=order)
    array.flags.writeable = not is_frozen
    found = round_trip({"one": array, "two": array}, tmp_path_factory.mktemp("arrays"))
    assert found["one"] is found["two"]
    assert found["one"].dtype == array.dtype
    assert found["one"].shape == array.shape
    assert found["one"].tobytes() == array.tobytes()
    assert found["one"].flags.writeable != is_frozen


def test_arrays_in_pieces_and_of_objects(tmp_path):
    table = np.arange(10_000.0).reshape(100, 100)
    values = {
        "strided": table[::3, ::7],
        "fortran": np.asfortranarray(table),
        "tiny": np.array([-0.0, 1e-320, np.pi]),
        "inline": np.float32([[1.1], [2.2]]),
        "odd": np.array([np.nan, -np.inf, -0.0]),
        "objects": np.array([["a", None], [(1, 2), np.int8(3)]], dtype=object),
        "pairs": np.fromiter([("a", 1), ("b", 2)], dtype=object),
        "strings": np.array([f"κ{k}" for k in range(2000)], dtype=object),
        "texts": tuple(f"κ{k}" for k in range(2000)),
        "index": {f"κ{k}": np.int64(k) for k in range(2000)},
        "flags": [True] * 2000,
        "mixed": [*range(2000), "x"],
        "large": [2**64] * 2000,
    }
    found = round_trip(values, tmp_path)
    assert found["index"] == values.pop("index")
    assert all(type(column) is int for column in found.pop("index").values())
    assert found["fortran"].flags.f_contiguous
    assert np.signbit(found["tiny"][0])
    assert np.signbit(found["odd"][2])
    assert not same(values, found)
    # The same strings are written once.
    names = [part["name"] for part in describe(tmp_path / "model")["parts"]]
    assert sum(name.endswith(".json") for name in names) == 2


@pytest.mark.parametrize("form", encoding.SPARSE_FORMATS)
@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (40, 60)])
def test_sparse_matrices(form, shape, tmp_path):
    rng = np.random.default_rng(0)
    matrix = getattr(sparse, form)(rng.poisson(0.2, size=shape).astype(np.float32))
    assert not same(matrix, round_trip(matrix, tmp_path))


def test_types_of_the_same_letters_do_not_share_a_file(tmp_path):
    values = [np.arange(50, dtype="u8"), np.array(["x" * 8] * 50), np.arange(50.0).astype(">f8")]
    values += [np.arange(50.0)]
    assert not same(values, round_trip(values, tmp_path))


# What cannot be saved -----------------------------------------------------------------------


class Stranger:
    """A class that nobody knows."""


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (HierarchicalSVC(kernel=np.inner), "'kernel' of the model is a function or class, 'inner'"),
        (HierarchicalSVC(loss=lambda a, b: float(a != b)), "'loss' of .*'<lambda>'"),
        (HierarchicalSVC(loss=losses.category_loss(max, TREE)), "'loss' .*CallableLoss"),
        (HierarchicalSVC(random_state=np.random.RandomState(0)), "'random_state' .*RandomState"),
        (HierarchicalSVC(attributes=pd.DataFrame(np.eye(2))), "'attributes' .*DataFrame"),
        (HierarchicalSVC(attributes=sparse.coo_array(np.eye(2))), "COO format.*csr_array"),
        (HierarchicalSVC(attributes=np.ma.masked_array([1.0])), "'attributes' .*MaskedArray"),
        (HierarchicalSVC(C=np.complex128(1j)), "'C' .*complex128"),
        (HierarchicalSVC(dtype=Stranger), "'dtype' .*'Stranger'"),
        (HierarchicalSVC(node_weight={"a": [Stranger()]}), r"\"node_weight\['a'\]\[0\]\" .*Strang"),
        (NodeSVC(estimator={"a": SVC()}), r"\"estimator\['a'\]\" of .*sklearn.svm._classes.SVC"),
        (SpectrumFeatures(unit=str.split), "'unit' .*'str.split'"),
        (Stranger(), "The model is an object of .*Stranger, which model files cannot hold"),
        ([1, 2], "save expects a model. Got list"),
        ("model", "save expects a model. Got str"),
        (HierarchicalSVC(attributes=np.zeros(3, dtype=[("a", "f8")])), "'attributes' .*ndarray"),
    ],
)
def test_what_files_cannot_hold_is_named(model, message, tmp_path):
    with pytest.raises(ModelFileError, match=message) as caught:
        save(model, tmp_path / "model")
    assert isinstance(caught.value, (TaxonomistError, ValueError, OSError))
    if "files cannot hold" in str(caught.value):
        assert "joblib or pickle" in str(caught.value)
    assert not any(tmp_path.iterdir())


def test_functions_inside_a_fitted_model_are_named(tmp_path):
    X, y, _ = problem()
    model = HierarchicalSVC(TREE, kernel=np.inner).fit(X, y)
    model.kernel = "linear"
    with pytest.raises(
        ModelFileError, match="'scorer_.rows.kernel.kernel' of the model is a function"
    ):
        save(model, tmp_path / "model")


def test_facts_must_be_data(tmp_path):
    facts = {"f1": np.float32(0.5), "n": np.arange(2), "none": float("nan"), 3: ("a", True, None)}
    save(HierarchicalSVC(), tmp_path / "model", facts=facts)
    expected = {"f1": 0.5, "n": [0, 1], "none": None, "3": ["a", True, None]}
    assert describe(tmp_path / "model")["facts"] == expected
    with pytest.raises(ModelFileError, match="facts contain .*Stranger"):
        save(HierarchicalSVC(), tmp_path / "other", facts={"x": [Stranger()]})


# Known classes ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(_TABLE))
def test_every_name_leads_to_a_class_and_back(name):
    kind = Registry().get(name)
    assert isinstance(kind, type)
    assert Registry().name_of(kind) == name


@pytest.mark.parametrize("room", [models, features, kernels])
def test_every_public_class_is_known(room):
    classes = [getattr(room, name) for name in getattr(room, "__all__", None) or room.all_models()]
    unknown = [kind for kind in classes if isinstance(kind, type) and not Registry().name_of(kind)]
    assert not unknown


def test_layers_above_bring_their_own_classes(tmp_path):
    model = HierarchicalSVC()
    model.part_ = Stranger()
    model.part_.value = 3
    kinds = {"Stranger": Stranger}
    save(model, tmp_path / "model", kinds=kinds)
    assert load(tmp_path / "model", kinds=kinds).part_.value == 3
    with pytest.raises(ModelFileError, match="of class 'Stranger', which this version of"):
        load(tmp_path / "model")
    assert Registry(kinds).name_of(type("Stranger", (), {})) is None
