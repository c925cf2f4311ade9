"""The exceptions a user can meet. Each message names what is wrong, what was given and what is allowed."""

from __future__ import annotations

from typing import Any


class ParetoclfError(Exception):
    """Base class of every exception that this package raises on purpose."""

    def __reduce__(self) -> Any:  # another process hands it on, without what its class asks for
        return type(self).__new__, (type(self), *self.args), vars(self)


class InputError(ParetoclfError, ValueError):
    """An argument is not what it must be; the message names the argument, the value and the allowed range."""


class NeedsConeError(InputError):
    """A quadratic or linear program was asked for, and the problem needs a cone.

    The message says what stands in the way, and ends there: what to do instead is said by who was asked.
    """


class MovesMatrixError(InputError):
    """A program with fixed matrices was asked for, and a parameter moves one.

    The message says where and what to write, and ends there, as that of `NeedsConeError`.
    """


class SolveError(ParetoclfError, RuntimeError):
    """A numerical solver returned no usable point."""


class SmallSampleWarning(UserWarning):
    """A covariance was estimated from too few samples to be one: part of it is regularisation alone."""


class BandwidthWarning(UserWarning):
    """A bandwidth is so small or so large that the kernel matrix says nothing of the samples."""


class HomogeneousWarning(UserWarning):
    """Probabilities were asked of classifiers whose boundaries all go through 0: they are the same along every ray."""


class PositiveClassWarning(UserWarning):
    """Labels are two texts, and none was named as the positive class: the second in sorted order is taken."""


class DegeneratePathError(ParetoclfError, RuntimeError):
    """The exact tracker refuses to continue rather than return a path it cannot certify.

    Attributes
    ----------
    cause : str
        Reason, in words.
    t : float or None
        Position on the line, the parameter of the path; None on a map of the cost plane.
    costs : str
        The costs there; empty where there are none.
    where : str
        Cause and position in one.
    """

    def __init__(
        self, cause: str, *, t: float | None, costs: str, n_margin: int | None, remedy: str, parameter: str = "t"
    ) -> None:
        self.cause, self.t, self.costs = cause, t, costs
        where = costs if t is None else f"{parameter} = {t:.6g}" + (f" ({costs})" if costs else "")
        self.where = f"{cause}, at {where}" if where else cause
        margin = "" if n_margin is None else f", margin set of {n_margin}"  # None: a program has no such set
        super().__init__(f"{self.where}{margin}. {remedy}")


class StoppedError(DegeneratePathError):
    """A path was stopped by a limit that was given: as many exchanges, or as much time, as were allowed.

    Attributes
    ----------
    path : path or None
        What there is of it, proved, on the part of the line that it says; it can be saved, and be a warm start. None
        where no part is proved.
    """

    path: Any = None


class InterruptedPath(KeyboardInterrupt):
    """An interrupt from the keyboard while a path was traced.

    Attributes
    ----------
    path : path
        What there is of it, as of `StoppedError`.
    """

    def __init__(self, path: Any) -> None:
        self.path = path
        super().__init__(f"stopped by the keyboard: what was traced is the path of this exception, {path!r}")

    __reduce__ = ParetoclfError.__reduce__


#: What stops a path before its end, and leaves what there is of it.
Stop = StoppedError | KeyboardInterrupt


class InseparableError(InputError):
    """No hyperplane separates the classes; the proof is a point that lies in the convex hull of each.

    Attributes
    ----------
    weights_plus, weights_minus : array of shape (n,)
        Convex weights: nonnegative, of sum 1, each on its own class. The two combinations are the same point.
    distance : float
        Distance of the two combinations, relative to the size of the samples: rounding.
    """

    def __init__(self, message: str, *, weights_plus: Any, weights_minus: Any, distance: float) -> None:
        self.weights_plus = weights_plus
        self.weights_minus = weights_minus
        self.distance = distance
        super().__init__(message)


class SlowTrackerWarning(UserWarning):
    """The package was installed without a C++ compiler, so that the textbook tracker follows its paths."""
