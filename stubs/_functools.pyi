"""The C part of `functools`, which costs nothing to import."""

from functools import partial as partial
