"""Views of structured arrays whose records have their fields as attributes, as in compiled code.

NumPy's `recarray` and `record` look attributes up in Python code. Here each dtype has a class of
records with a property per field, which takes a fifth of that time. Interpreted rules of games
spend most of their time on access to fields.
"""

import copyreg
from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray


class RecordType(type):
    """Metaclass of the record classes; each class is pickled as its dtype."""

    fields_of: np.dtype[np.void]


class Record(np.void, metaclass=RecordType):  # type: ignore[misc]
    """Record whose fields are attributes; every structured dtype has its own subclass.

    Attributes:
        fields_of: the structured dtype of the record, with `np.void` as its scalar type.
    """

    __slots__ = ()  # so that writing to a misspelled field is an error


class RecordArray(np.ndarray[Any, Any]):
    """Array of records, in which each field is an attribute, too."""

    def __getattr__(self, name: str) -> Any:
        if self.dtype.names is None or name not in self.dtype.names:
            raise AttributeError(f"{type(self).__name__!r} has no attribute or field {name!r}")
        return self[name]


def view_records(array: NDArray[np.void]) -> Any:
    """Return a view of a structured array, whose records have their fields as attributes."""
    return array.view(dtype_with_attributes(array.dtype), RecordArray)


def view_record(record: np.void) -> Any:
    """Return a view of a record that has its fields as attributes."""
    return record.view(dtype_with_attributes(record.dtype))


@cache
def _record_class(dtype: np.dtype[np.void]) -> RecordType:
    """Return the class of the records of a dtype."""
    members: dict[str, Any] = {
        "__slots__": (),
        "fields_of": dtype,
    }
    # A field must not hide an attribute of NumPy's records, such as `copy`.
    names = dtype.names or ()
    members |= {name: _field(name) for name in names if not hasattr(np.void, name)}
    return RecordType("Record", (Record,), members)


def _field(name: str) -> property:
    """Return the property that reads and writes the field `name`."""

    def set_(self: Any, value: Any) -> None:
        self[name] = value

    return property(itemgetter(name), set_)


copyreg.pickle(RecordType, lambda class_: (_record_class, (class_.fields_of,)))


@cache
def dtype_with_attributes(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return an equal dtype whose records, nested ones too, have their fields as attributes."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return np.dtype((dtype_with_attributes(base), shape))
    if dtype.names is None:
        return dtype
    fields = [dtype.fields[name] for name in dtype.names]  # type: ignore[index]
    nested = {
        "names": dtype.names,
        "formats": [dtype_with_attributes(field[0]) for field in fields],
        "offsets": [field[1] for field in fields],
        "itemsize": dtype.itemsize,
    }
    layout: Any = np.dtype(nested, align=dtype.isalignedstruct)  # type: ignore[call-overload]
    return np.dtype((_record_class(np.dtype((np.void, dtype))), layout))
