"""The C part of `collections`, which costs nothing to import."""

from collections import OrderedDict as OrderedDict
from collections import deque as deque
