"""Causes by co-attention, the turns read in one text with the one that reacts: better than each by itself, but a pass for each reply."""

from functools import partial

from empathia.models.coattention import Coattention

HEAD = partial(Coattention, reading="together")
